/** The API tells of itself: to programs as OpenAPI, to people as a page. */
import * as v from 'valibot'
import { styledPageHeaders } from '../../pages/look.ts'
import { described } from '../../requests/described.ts'
import { endpointsOf, file, json, type Declaration, type Endpoint } from '../endpoint.ts'
import type { SendLarge } from '../../http/large-answers.ts'
import { docsPage } from './docs-page.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { openApiDocument } from './document.ts'

const about = endpointsOf('service', 'anyone')

/** Made when first asked for: most control planes that start are never asked. */
export function openApiEndpoints(
  baseUrl: string,
  declarations: () => readonly Declaration[],
  sendLarge: SendLarge,
): readonly Endpoint[] {
  const headers = styledPageHeaders(DOCS_STYLE)
  let document: Buffer | undefined
  let page: Promise<Buffer> | undefined
  return [
    about.get('/api/v1/openapi.json', {
      summary: 'All of this for programs, as OpenAPI 3.1.',
      answers: {
        200: json(
          v.looseObject({ openapi: described(v.string(), 'The version of OpenAPI.') }),
          'The document.',
        ),
      },
      handle: (c) => {
        document ??= Buffer.from(JSON.stringify(openApiDocument(declarations(), baseUrl)))
        return sendLarge(c, document, { 'Content-Type': 'application/json' })
      },
    }),
    about.get('/api/v1/docs', {
      summary: 'All of this for people: this page.',
      answers: { 200: file('text/html', 'The page.') },
      handle: async (c) => {
        page ??= docsPage(declarations(), baseUrl).then((html) => Buffer.from(String(html)))
        return sendLarge(c, await page, { ...headers, 'Content-Type': 'text/html; charset=UTF-8' })
      },
    }),
  ]
}
