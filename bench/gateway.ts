/** One gateway worker as it runs, access log and metrics on: `node bench/gateway.ts <port> <snapshot file>`. */
import { openSync, readFileSync, write } from 'node:fs'
import { pino } from 'pino'
import { createGateway } from '../gateway/gateway.ts'
import { createLineWriter } from '../gateway/telemetry/line-writer.ts'
import { createPortPair } from '../gateway/tenants/ports.ts'
import { systemClock } from '../shared/clock.ts'

const [port = '', path = ''] = process.argv.slice(2)
const ports = createPortPair()
const sink = openSync('/dev/null', 'w')
const gateway = createGateway({
  settings: {
    timeouts: { head: 10_000, idle: 60_000, keep_alive: 75_000, connect: 5000, first_byte: 30_000 },
    trustedProxies: [],
    fleetKey: 'a fleet key for a bench',
  },
  port: ports.primary,
  log: pino({ level: 'warn' }),
  clock: systemClock,
  lines: createLineWriter({
    write: (text, done) => write(sink, text, null, 'latin1', done),
  }),
})
ports.worker.onMessage(() => undefined)
for (const change of [
  { type: 'tenant', tenantId: 'bench', sync: 1, text: readFileSync(path, 'utf8') },
  { type: 'status', status: { isConfigured: true, isDamaged: false } },
  { type: 'complete' },
] as const)
  ports.worker.send({ channel: 'tenants', change })
await gateway.ready
gateway.server.createListener().listen(Number(port), '127.0.0.1', 4096)
process.once('SIGTERM', () => process.exit(0))
