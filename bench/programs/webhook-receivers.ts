/**
 * Receivers of webhooks, in a process of their own: so many that answer 204, then so many that take
 * connections and never say a word. Says its ports, and when asked what has arrived when.
 */
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'

const [healthy = '0', dead = '0', keyFile = '', certFile = ''] = process.argv.slice(2)
const credentials = { key: readFileSync(keyFile), cert: readFileSync(certFile) }

interface Body {
  readonly id: string
  readonly created_at: string
}

interface Arrivals {
  readonly ids: Set<string>
  /** From when it happened to when it was here, one per delivery. */
  readonly waitsMs: number[]
  lastMs: number
}

const arrivals: Arrivals[] = []
const ports: number[] = []
const listening = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  )

for (let index = 0; index < Number(healthy); index++) {
  const own: Arrivals = { ids: new Set(), waitsMs: [], lastMs: 0 }
  arrivals.push(own)
  const server = createHttpsServer(credentials, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const { id, created_at: happened } = JSON.parse(Buffer.concat(chunks).toString()) as Body
      own.lastMs = Date.now()
      if (!own.ids.has(id)) own.waitsMs.push(own.lastMs - Date.parse(happened))
      own.ids.add(id)
      response.writeHead(204).end()
    })
  })
  ports.push(await listening(server))
}
for (let index = 0; index < Number(dead); index++)
  ports.push(await listening(createTcpServer(() => {})))

process.on('message', () =>
  process.send?.(arrivals.map(({ waitsMs, lastMs }) => ({ waitsMs, lastMs }))),
)
process.on('disconnect', () => process.exit())
process.send?.(ports)
