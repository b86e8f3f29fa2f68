/** A change on its way to the gateways, as server-sent events. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import type { DoneNote } from './receipts.ts'
import { page, type ConsoleRoute } from './route.ts'
import type { ConsoleWorld } from './world.ts'

export function receiptRoutes({
  receipts,
  consoleAccess: { proofs },
}: ConsoleWorld): readonly ConsoleRoute[] {
  return [
    page(
      { path: '/console/receipt', role: 'viewer', query: { of: v.optional(v.string(), '') } },
      ({ viewer, query, request }) => {
        const note = proofs.readNote(viewer.userId, query.of) as DoneNote | undefined
        if (note === undefined) throw new Refusal('not_found')
        const states = receipts.follow(note, viewer, () => request.signal.aborted)
        return new Response(eventsOf(states), {
          headers: {
            'Content-Type': 'text/event-stream',
            'Cache-Control': 'no-store',
            'X-Accel-Buffering': 'no', // a proxy in front must not hold it back
          },
        })
      },
    ),
  ]
}

function eventsOf(states: AsyncGenerator<object, void>): ReadableStream<Uint8Array> {
  const encode = (event: string, data: object) =>
    Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  return new ReadableStream({
    async pull(controller) {
      const next = await states.next()
      if (next.done !== true) return controller.enqueue(encode('state', next.value))
      controller.enqueue(encode('end', {}))
      controller.close()
    },
    async cancel() {
      await states.return(undefined)
    },
  })
}
