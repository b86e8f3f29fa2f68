/** What tenants can be told of: to programs as JSON, to a browser as a page. */
import * as v from 'valibot'
import { styledPageHeaders } from '../../pages/theme.ts'
import { described } from '../../requests/described.ts'
import { endpointsOf, json, type Endpoint } from '../endpoint.ts'
import { compressed, encodedFor, type Compressed } from '../../http/compressed.ts'
import { sendShared } from '../../http/large-answers.ts'
import { DOCS_STYLE } from '../openapi/docs-style.ts'
import { describedEvents, eventsPage } from './events-page.ts'

const anyone = endpointsOf('events', 'anyone')

const EventsAnswer = v.strictObject({
  items: v.array(
    v.strictObject({
      event: described(v.string(), 'As in `X-Service-Event` and in `event` of the body.'),
      sent_when: v.string(),
      sent_by: described(v.string(), 'What triggers it.'),
      data: described(v.record(v.string(), v.unknown()), 'JSON Schema of the `data` of the body.'),
      example: described(v.record(v.string(), v.unknown()), 'A complete example body.'),
    }),
  ),
  next: v.null(),
})

export function eventEndpoints(): readonly Endpoint[] {
  const headers = styledPageHeaders(DOCS_STYLE)
  let list: Buffer | undefined
  let page: Promise<Compressed> | undefined
  return [
    anyone.get('/api/v1/events', {
      summary: 'Lists the webhook events, each with its data and an example.',
      description: 'Browsers get a page that also explains how to verify the signature.',
      headers: { Accept: '`text/html` for the page.' },
      answers: {
        200: {
          ...json(EventsAnswer, 'Every event.'),
          content: { 'application/json': EventsAnswer, 'text/html': null },
          headers: { Vary: 'The headers that the response depends on.' },
        },
      },
      handle: async (c) => {
        c.header('Vary', 'Accept')
        const isBrowser = c.req.header('accept')?.includes('text/html') === true
        if (!isBrowser) {
          list ??= Buffer.from(JSON.stringify({ items: describedEvents(), next: null }))
          return sendShared(c, list, { 'Content-Type': 'application/json' })
        }
        page ??= eventsPage(describedEvents()).then(compressed)
        const made = await encodedFor(await page, c.req.header('accept-encoding'))
        return sendShared(c, made.bytes, {
          ...headers,
          ...made.headers,
          'Content-Type': 'text/html; charset=UTF-8',
          Vary: 'Accept, Accept-Encoding',
        })
      },
    }),
  ]
}
