/** Receivers of webhooks: real HTTPS servers on loopback, with certificates of an own authority. */
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ReceiverWorld } from '../../control-plane/webhooks/receiver-client.ts'
import { commonAuthority, commonCertificate } from './test-certificates.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly method: string
  readonly path: string
  readonly raw: Buffer
  readonly body: {
    readonly id: string
    readonly event: string
    readonly tenant_id: string
    readonly created_at: string
    readonly data: Record<string, unknown>
  }
}

/** A status; or `hang`: it never answers. */
export type Reply = (received: Received) => number | 'hang'

export const RECEIVER_HOST = 'hooks.example'

export function createReceivers() {
  const { caPem } = commonAuthority()
  const { private_key_pem: key, certificate_pem: cert } = commonCertificate(RECEIVER_HOST)
  const world: ReceiverWorld = {
    allowPrivate: ['127.0.0.0/8'],
    egressProxy: null,
    resolve: () => Promise.resolve(['127.0.0.1']),
    ca: caPem,
  }

  return {
    world,
    caPem,

    async start(t: Teardown, reply: Reply = () => 204) {
      const received: Received[] = []
      const waiting: { count: number; resolve: () => void }[] = []
      const state = { reply }
      const server = createServer({ key, cert }, (request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => void chunks.push(chunk))
        request.on('end', () => {
          const raw = Buffer.concat(chunks)
          const { headers, method = '', url: path = '' } = request
          const body = JSON.parse(raw.toString('utf8')) as Received['body']
          const one = { headers, method, path, raw, body }
          received.push(one)
          const answer = state.reply(one)
          if (answer !== 'hang') response.writeHead(answer).end(answer < 300 ? '' : 'not today')
          for (const { count, resolve } of waiting) if (received.length >= count) resolve()
        })
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.teardown(() => {
        server.closeAllConnections()
        server.close()
      })
      const { port } = server.address() as AddressInfo
      return {
        url: `https://${RECEIVER_HOST}:${port}/hooks`,
        port,
        received,
        answerWith: (other: Reply) => void (state.reply = other),
        /** Settles when so many requests have come. */
        arrived: (count: number) =>
          new Promise<void>((resolve) => {
            if (received.length >= count) resolve()
            else waiting.push({ count, resolve })
          }),
      }
    },
  }
}

export type Receiver = Awaited<ReturnType<ReturnType<typeof createReceivers>['start']>>
