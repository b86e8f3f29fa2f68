/** The API tells of itself: to programs as OpenAPI, to people as a page. */
import * as v from 'valibot'
import { styledPageHeaders } from '../../pages/theme.ts'
import { described } from '../../requests/described.ts'
import { endpointsOf, file, json, type Declaration, type Endpoint } from '../endpoint.ts'
import { compressed, encodedFor, type Compressed } from '../../http/compressed.ts'
import type { ApiContext } from '../../http/context.ts'
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
  let document: Compressed | undefined
  let page: Promise<Compressed> | undefined
  const send = async (c: ApiContext, made: Compressed, own: Readonly<Record<string, string>>) => {
    const { bytes, headers: encoding } = await encodedFor(made, c.req.header('accept-encoding'))
    return sendLarge(c, bytes, { ...own, ...encoding })
  }
  return [
    about.get('/api/v1/openapi.json', {
      summary: 'This API as an OpenAPI 3.1 document.',
      answers: {
        200: json(
          v.looseObject({ openapi: described(v.string(), 'The version of OpenAPI.') }),
          'The document.',
        ),
      },
      handle: async (c) => {
        document ??= compressed(JSON.stringify(openApiDocument(declarations(), baseUrl)))
        return send(c, document, { 'Content-Type': 'application/json' })
      },
    }),
    about.get('/api/v1/docs', {
      summary: 'This page.',
      answers: { 200: file('text/html', 'The page.') },
      handle: async (c) => {
        page ??= docsPage(declarations(), baseUrl).then((html) => compressed(withoutIndent(html)))
        return send(c, await page, { ...headers, 'Content-Type': 'text/html; charset=UTF-8' })
      },
    }),
  ]
}

/** How the templates are indented is a third of the page; what is inside `pre` begins its lines itself, and the style has a hash. */
const withoutIndent = (html: string) =>
  html
    .split(/(<pre[^]*?<\/pre>|<style[^]*?<\/style>)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/\s*\n\s*/g, '\n')))
    .join('')
