/** How long an application is waited for that has not answered a handshake. */
import t from 'tap'
import { Handshake, type HandshakeCalls } from '../../../gateway/upgrade/handshake.ts'
import { Deadlines } from '../../../gateway/wire/deadlines.ts'
import type { UpstreamFailure } from '../../../gateway/wire/upstream-call.ts'

const TIMEOUTS = { connectMs: 1000, firstByteMs: 30_000, idleMs: 600_000 }

t.test('a connection that is full beside it takes no deadline away, and gives no other', (t) => {
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const deadlines = new Deadlines(clock)
  t.teardown(() => deadlines.close())
  for (const isConnected of [false, true]) {
    const failures: string[] = []
    let given: HandshakeCalls | undefined
    const call = new Handshake(
      {
        deadlines,
        clock,
        timeouts: TIMEOUTS,
        carry: (_request, calls) => (given = calls),
        open: () => undefined,
        onEnd: () => undefined,
      },
      { lines: '' } as never,
      { onError: ({ code }: UpstreamFailure) => void failures.push(code) } as never,
    )
    if (isConnected) given!.onConnected()
    const forMs = isConnected ? TIMEOUTS.firstByteMs : TIMEOUTS.connectMs
    clock.ms += forMs - 1
    call.pause()
    deadlines.sweep()
    call.resume()
    deadlines.sweep()
    t.same(failures, [])
    call.pause()
    clock.ms += 1
    deadlines.sweep()
    t.same(failures, [isConnected ? 'upstream_timeout' : 'upstream_connect_timeout'])
  }
  t.end()
})
