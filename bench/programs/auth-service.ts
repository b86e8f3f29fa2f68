/** What nginx asks with auth_request: a token is verified once and remembered. `node bench/programs/auth-service.ts <port> <public key>` */
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { LRUCache } from 'lru-cache'

const [port = '', path = ''] = process.argv.slice(2)
const key = createPublicKey(readFileSync(path))
const proven = new LRUCache<string, number>({ max: 50_000 })

function expiryOf(token: string): number {
  const [head = '', body = '', signature = ''] = token.split('.')
  const isGood = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    key,
    Buffer.from(signature, 'base64url'),
  )
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as { exp: number }
  return isGood ? claims.exp : 0
}

createServer((request, response) => {
  const token = /service_session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
  let expiry = proven.get(token)
  if (expiry === undefined) {
    expiry = expiryOf(token)
    proven.set(token, expiry)
  }
  response.writeHead(expiry * 1000 > Date.now() ? 204 : 401).end()
}).listen(Number(port), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
