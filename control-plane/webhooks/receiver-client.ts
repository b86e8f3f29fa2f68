/**
 * Posts deliveries to receivers that tenants have named, to addresses that are checked for every
 * connection (`outbound/checked-connect.ts`). No redirect is followed; all of it, from the name to
 * the last byte, has one deadline.
 */
import type { Dispatcher } from 'undici'
import { LIMITS } from '../../shared/limits.ts'
import {
  checkedAgent,
  Late,
  problemOf,
  raced,
  resolveWithin,
  type OutboundWorld,
} from '../outbound/checked-connect.ts'
import {
  AddressRefused,
  createReceiverAddresses,
  readReceiverUrl,
} from '../outbound/public-address.ts'
import type { AddressCheck, ReceiverAnswer, ReceiverClient } from './receiver.ts'

export interface ReceiverWorld extends OutboundWorld {
  readonly keepAliveMs?: number
}

export function createAddressCheck({
  allowPrivate,
  resolve = resolveWithin(LIMITS.webhookMsMax),
}: Pick<ReceiverWorld, 'allowPrivate' | 'resolve'>): AddressCheck {
  const addresses = createReceiverAddresses({ allowPrivate, resolve })
  return async (text) => {
    try {
      await addresses.find(readReceiverUrl(text).hostname)
      return undefined
    } catch (error) {
      if (error instanceof AddressRefused) return error.message
      throw error
    }
  }
}

export function createReceiverClient(world: ReceiverWorld): ReceiverClient {
  const { timeoutMs = LIMITS.webhookMsMax, keepAliveMs = LIMITS.webhookKeepAliveMsMax } = world
  const agent = checkedAgent(
    { ...world, timeoutMs },
    {
      // as many as are ever under way: nobody waits for a socket that another tenant holds
      connections: LIMITS.webhookSendsMax,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs, // whatever a receiver asks for
      maxResponseSize: -1, // we stop reading by ourselves, and that is no failure
    },
  )

  return {
    async post({ url, headers, body }): Promise<ReceiverAnswer> {
      const startedMs = performance.now()
      const ending = new AbortController()
      const deadline = ending.signal
      const timer = setTimeout(() => ending.abort(new Late()), timeoutMs)
      const ended = (status: number | undefined, firstBytes: string, problem: string) => ({
        status,
        milliseconds: Math.round(performance.now() - startedMs),
        firstBytes,
        problem,
      })
      try {
        const { origin, pathname, search } = readReceiverUrl(url)
        const path = pathname + search
        const wanted = { origin, path, method: 'POST', headers, body, signal: deadline } as const
        const answer = await raced(agent.request(wanted), deadline)
        const { statusCode } = answer
        try {
          return ended(statusCode, await firstBytesOf(answer, deadline), '')
        } catch (error) {
          // it has answered: what breaks off behind that is no other answer, unless it came too late
          return ended(
            statusCode,
            '',
            deadline.aborted ? problemOf(error, deadline, LIMITS.webhookMsMax) : '',
          )
        }
      } catch (error) {
        return ended(undefined, '', problemOf(error, deadline, LIMITS.webhookMsMax))
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => agent.destroy(),
  }
}

/** Enough to see what was said; whoever sends more is not listened to. */
async function firstBytesOf({ body }: Dispatcher.ResponseData, signal: AbortSignal) {
  const chunks: Buffer[] = []
  let bytes = 0
  const reading = (async () => {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= LIMITS.webhookAnswerBytesMax) return void body.destroy()
    }
  })()
  await raced(reading, signal)
  const text = Buffer.concat(chunks).subarray(0, LIMITS.webhookAnswerBytesMax).toString('utf8')
  return text.replaceAll('\0', '\ufffd')
}
