/** What goes on being so is told once, however often it happens. */
import t from 'tap'
import { createTunnelLog } from '../../../../../control-plane/downloads/connector/running/tunnel-log.ts'
import { createLog } from '../../../../../control-plane/downloads/resident/log.ts'

const at = { gateway: 'gateway-1', worker: 1 } as const
const noLines = () => {
  const lines: string[] = []
  const output = { write: (line: string) => lines.push(line), isTTY: true }
  return {
    lines,
    tell: createTunnelLog(createLog({ program: 'connector', output, nowMs: () => 0 })),
  }
}

void t.test('a revoked connector, and an application that is away', async (t) => {
  const { lines, tell } = noLines()
  const check = { type: 'checked', ...at, isReached: true } as const
  for (let count = 0; count < 3; count++) {
    tell({ type: 'refused', gateway: 'gateway-1', reason: 'revoked' })
    tell({ type: 'opened', isReached: false, reason: 'refused' })
    tell(check)
  }
  tell({ type: 'opened', isReached: false, reason: 'timeout' })
  tell({ type: 'opened', isReached: true })
  tell({ type: 'opened', isReached: true })
  tell({ type: 'connected', ...at })
  tell({ type: 'refused', gateway: 'gateway-1', reason: 'revoked' })
  tell({ type: 'refused', gateway: 'gateway-1', reason: 'of a later version\u001b[2J' })
  t.strictSame(lines, [
    '00:00:00 warning: this connector was revoked (gateway id: gateway-1, reason: revoked)\n',
    '00:00:00 warning: the application cannot be reached (reason: refused)\n',
    '00:00:00 warning: the application cannot be reached (reason: timeout)\n',
    '00:00:00 the application answers again\n',
    '00:00:00 connected (gateway id: gateway-1, worker: 1)\n',
    '00:00:00 warning: this connector was revoked (gateway id: gateway-1, reason: revoked)\n',
    '00:00:00 warning: refused: of a later version<U+001B>[2J (gateway id: gateway-1, reason: of a later version<U+001B>[2J)\n',
  ])
})
