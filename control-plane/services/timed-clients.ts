/** Whatever is sent to others, timed: by the kind of its receiver, its host, and how that answered. */
import type { ProviderClient } from '../connections/provider-client.ts'
import type { MailTransport } from '../mail/mails.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { ReceiverClient } from '../webhooks/receiver.ts'

type Timing = Pick<Tracing, 'span'>

export function timedReceiver(client: ReceiverClient, tracing: Timing): ReceiverClient {
  return {
    post: (request) =>
      tracing.span('outgoing', to('webhook', request.url), async (span) => {
        const answer = await client.post(request)
        if (answer.status !== undefined) span.set('http.response.status_code', answer.status)
        else span.set('error.type', 'unanswered')
        return answer
      }),
    close: () => client.close(),
  }
}

export function timedProvider(client: ProviderClient, tracing: Timing): ProviderClient {
  const timed = <T>(url: string, ask: () => Promise<T>) =>
    tracing.span('outgoing', to('connection', url), ask)
  return {
    json: (request) => timed(request.url, () => client.json(request)),
    list: (request) => timed(request.url, () => client.list(request)),
    text: (request) => timed(request.url, () => client.text(request)),
    close: () => client.close(),
  }
}

/** Nothing of the mail itself. */
export function timedMail(transport: MailTransport, tracing: Timing): MailTransport {
  return {
    send: (mail) =>
      tracing.span('outgoing', { kind: 'client', attributes: { to: 'mail' } }, () =>
        transport.send(mail),
      ),
    close: () => transport.close(),
  }
}

/** The host alone: paths and queries of receivers hold keys. */
function to(kind: 'webhook' | 'connection', url: string) {
  const host = URL.canParse(url) ? new URL(url).host : ''
  return { kind: 'client', attributes: { to: kind, 'server.address': host } } as const
}
