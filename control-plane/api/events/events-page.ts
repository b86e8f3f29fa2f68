/** The events for people: when each is sent, what it says, and how to know that it is ours. */
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { RETRY_GAPS_MS } from '../../webhooks/schedule.ts'
import { EVENT_NAMES, EVENTS, type EventName } from '../../../shared/events.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { describedFields } from '../openapi/described-fields.ts'
import { DOCS_STYLE } from '../openapi/docs-style.ts'
import { answeredSchema, type JsonSchema } from '../openapi/schemas.ts'

type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** To paste; a test runs it. */
export const RECEIVER = `import { createHmac, timingSafeEqual } from 'node:crypto'

/** rawBody: the bytes as they came, before any parsing. */
export function isFromService(header, rawBody, secret, toleranceSeconds = 300) {
  const parts = header.split(',').map((part) => part.split('='))
  const t = parts.find(([name]) => name === 't')?.[1]
  const signatures = parts.filter(([name]) => name === 'v1').map(([, value]) => value)
  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > toleranceSeconds) return false
  const wanted = createHmac('sha256', secret).update(t + '.').update(rawBody).digest('hex')
  return signatures.some(
    (one) => one.length === wanted.length && timingSafeEqual(Buffer.from(one), Buffer.from(wanted)),
  )
}`

export async function eventsPage(events: readonly DescribedEvent[]): Promise<string> {
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Events of the sign-in protection service</title>
    <style>${raw(DOCS_STYLE)}</style>
  </head>
  <body>
    <header>
      <h1>Events</h1>
      <p>What webhooks send to your application, on plan premium. Programs get the same list here as
        JSON. To set up webhooks, see the <a href="/api/v1/docs#webhooks">API</a>.</p>
    </header>
    <nav aria-label="Parts">
      <ul>
        <li><a href="#events">Events</a></li>
        <li><a href="#delivery">Delivery</a></li>
        <li><a href="#signature">Signature</a></li>
      </ul>
    </nav>
    <main>
      <section id="events" aria-labelledby="events-title">
        <h2 id="events-title">Events</h2>
        ${events.map(eventCard)}
      </section>
      <section id="delivery" aria-labelledby="delivery-title">
        <h2 id="delivery-title">Delivery</h2>
        <p>A POST to your <code>https://</code> address. Any 2xx within
          ${LIMITS.webhookMsMax / SECOND_MS} seconds is a success; redirects are not followed. After a failure it
          is retried, ${LIMITS.webhookAttemptsMax} attempts in all, after ${gaps()}, give or take a
          tenth. The same delivery can arrive twice: remember <code>X-Service-Delivery</code> and skip
          the ones you have seen.</p>
        <dl>
          ${HEADERS.map(([name, meaning]) => html`<dt><code>${name}</code></dt><dd>${meaning}</dd>`)}
        </dl>
      </section>
      <section id="signature" aria-labelledby="signature-title">
        <h2 id="signature-title">Signature</h2>
        <p><code>v1</code> is the HMAC-SHA256, in lowercase hex, of <code>t</code>, a dot and the raw
          bytes of the body, keyed with the secret of the webhook. While a secret is being rotated
          there are two <code>v1</code>: one match is enough.</p>
        <pre tabindex="0"><code>${RECEIVER}</code></pre>
      </section>
    </main>
  </body>
</html>`
  return page.toString()
}

const HEADERS = [
  ['Content-Type', 'application/json'],
  ['User-Agent', 'Service-Webhooks/1'],
  ['X-Service-Signature', 't=<unix time of the attempt>,v1=<hex>'],
  ['X-Service-Event', 'The name of the event.'],
  ['X-Service-Delivery', 'The ID of the delivery, also in the body as id.'],
] as const

function eventCard({ event, sent_when: when, sent_by: by, data, example }: DescribedEvent): Html {
  return html`<details id="${event}">
    <summary>
      <span class="call"><code>${event}</code></span>
      <span class="what">${when}</span>
    </summary>
    <div class="inside">
      <h3>Trigger</h3>
      <p>${by}</p>
      <h3>Data</h3>
      <dl class="fields">${describedFields(data).map(
        ({ path, type, isRequired, meaning }) => html`<div>
        <dt><code>${path}</code> <span>${type}${isRequired ? '' : ', optional'}</span></dt>
        ${meaning === '' ? '' : html`<dd>${meaning}</dd>`}
      </div>`,
      )}</dl>
      <h3>Example</h3>
      <pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>
    </div>
  </details>`
}

function gaps(): string {
  return RETRY_GAPS_MS.map((ms) =>
    ms < MINUTE_MS ? `${ms / SECOND_MS} seconds` : `${ms / MINUTE_MS} min`,
  ).join(', ')
}

interface DescribedEvent {
  readonly event: EventName
  readonly sent_when: string
  readonly sent_by: string
  readonly data: JsonSchema
  readonly example: Record<string, unknown>
}

export function describedEvents(): readonly DescribedEvent[] {
  return EVENT_NAMES.map((event) => {
    const { sentWhen, sentBy, data, example } = EVENTS[event]
    return {
      event,
      sent_when: sentWhen,
      sent_by: sentBy,
      data: answeredSchema(data),
      example: {
        id: 'dlv_1b9f6c1e2d3a4b5c',
        event,
        tenant_id: 'acme',
        created_at: '2026-03-02T09:30:00.000Z',
        data: example,
      },
    }
  })
}
