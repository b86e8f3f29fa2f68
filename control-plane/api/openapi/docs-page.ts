/** The same document for people: what there is, who may call it, what to send, what comes back. */
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts'
import { GROUPS, type Answer, type Caller, type Declaration } from '../endpoint.ts'
import { refusalsOf } from '../refusals.ts'
import { curlLine } from './curl.ts'
import { describedFields, typeOf, type DescribedField } from './described-fields.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { PATH_PARAMETERS, parametersIn } from './path-parameters.ts'
import {
  answeredSchema,
  nameOf,
  namedSchemas,
  querySchema,
  sentSchema,
  type JsonSchema,
} from './schemas.ts'

type Html = HtmlEscapedString | Promise<HtmlEscapedString>

const CALLERS: Readonly<Record<Caller, string>> = {
  anyone: 'None: open to everyone.',
  analyzer: 'Send the analyzer key as a bearer token.',
  analyzer_in_query: 'Send the analyzer key as the query parameter api_key.',
  client: 'Send the client ID and client secret of the application by HTTP Basic.',
  operator: 'Send the operator key as a bearer token.',
}

export async function docsPage(declarations: readonly Declaration[], baseUrl: string) {
  const groups = Object.entries(GROUPS)
    .map(([group, title]) => ({
      id: group,
      title,
      members: declarations.filter((declaration) => declaration.group === group),
    }))
    .filter(({ members }) => members.length > 0)
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API of the sign-in protection service</title>
    <style>${raw(DOCS_STYLE)}</style>
  </head>
  <body>
    <header>
      <h1>API</h1>
      <p>Every endpoint of <code>${baseUrl}</code>: authentication, request, response. Programs get
        the same as <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
      <p>The curl examples read secrets from environment variables, so you never paste one.
        You get the analyzer key and the client secret when you create a tenant; the operator
        key is <code>SERVICE_OPERATOR_KEY</code> of the service.</p>
    </header>
    <nav aria-label="Groups">
      <ul>
        ${groups.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
        <li><a href="#objects">Objects</a></li>
        <li><a href="#errors">Errors</a></li>
      </ul>
    </nav>
    <main>
      ${groups.map(
        ({ id, title, members }) => html`<section id="${id}" aria-labelledby="${id}-title">
        <h2 id="${id}-title">${title}</h2>
        ${members.map((declaration) => endpointCard(declaration, baseUrl))}
      </section>`,
      )}
      <section id="objects" aria-labelledby="objects-title">
        <h2 id="objects-title">Objects</h2>
        <p>What several endpoints speak of.</p>
        ${Object.entries(namedSchemas()).map(
          ([name, schema]) => html`<details id="object-${name}">
          <summary><span class="what">${name}</span></summary>
          <div class="inside">${fieldList(describedFields(schema), false)}</div>
        </details>`,
        )}
      </section>
      <section id="errors" aria-labelledby="errors-title">
        <h2 id="errors-title">Errors</h2>
        <p>Every refusal is JSON: <code>error</code> for programs, <code>detail</code> for people, and
          <code>field</code> where one is wrong. <code>X-Request-Id</code> finds it in the log.</p>
        <dl>${Object.keys(ERRORS).map((code) => refusalLine(code as ErrorCode))}</dl>
      </section>
    </main>
  </body>
</html>`
  return page.toString()
}

function endpointCard(declaration: Declaration, baseUrl: string): Html {
  const { method, path, summary, description, caller, isUnlimited, answers } = declaration
  return html`<details>
    <summary>
      <span class="call"><b class="${method.toLowerCase()}">${method}</b>
        <code>${breakable(path)}</code></span>
      <span class="what">${spoken(summary)}</span>
    </summary>
    <div class="inside">
      ${description === undefined ? '' : html`<p>${spoken(description)}</p>`}
      <h3>Authentication</h3>
      <p>${CALLERS[caller]}${isUnlimited === true ? ' No rate limit.' : ''}</p>
      <h3>Request</h3>
      ${sent(declaration)}
      <h3>Response</h3>
      <dl>${Object.entries(answers).map(([status, answer]) => answerLine(status, answer))}</dl>
      ${refusals(refusalsOf(declaration))}
      <h3>curl</h3>
      <pre tabindex="0"><code>${curlLine(declaration, baseUrl)}</code></pre>
    </div>
  </details>`
}

function sent({ path, query = {}, headers = {}, body, elements, jose }: Declaration): Html {
  const parameters: DescribedField[] = [
    ...parametersIn(path).map((name) =>
      parameter(name, 'in the path', PATH_PARAMETERS[name].description, true),
    ),
    ...Object.entries(query).map(([name, schema]) => {
      const { description = '', ...rest } = querySchema(schema)
      return parameter(name, `in the query, ${typeOf(rest)}`, description, false)
    }),
    ...Object.entries(headers).map(([name, meaning]) => parameter(name, 'header', meaning, false)),
    ...(jose === undefined ? [] : [parameter('body', 'application/jose', jose, true)]),
  ]
  const fields = body === undefined ? [] : describedFields(sentSchema(body, elements))
  if (parameters.length + fields.length === 0) return html`<p>No parameters.</p>`
  return fieldList([...parameters, ...fields], true)
}

function parameter(
  path: string,
  type: string,
  meaning: string,
  isRequired: boolean,
): DescribedField {
  return { path, type, meaning, isRequired, named: undefined }
}

function fieldList(fields: readonly DescribedField[], isSent: boolean): Html {
  return html`<dl class="fields">${fields.map(
    ({ path, type, named, isRequired, meaning }) => html`<div>
      <dt><code>${breakable(path)}</code>
        <span>${named === undefined ? type : html`<a href="#object-${named}">${type}</a>`}${
          isSent && isRequired ? html`, <b>required</b>` : ''
        }${!isSent && !isRequired ? ', optional' : ''}</span></dt>
      ${meaning === '' ? '' : html`<dd>${spoken(meaning)}</dd>`}
    </div>`,
  )}</dl>`
}

function answerLine(status: string, { description, content, headers = {} }: Answer): Html {
  const named = Object.entries(headers).map(
    ([name, meaning]) => html`<p><code>${name}</code>: ${spoken(meaning)}</p>`,
  )
  return html`<dt>${status}</dt><dd>${spoken(description)}${named}${Object.entries(content).map(
    ([type, schema]) =>
      schema === null ? html`<p><code>${type}</code></p>` : shape(answeredSchema(schema)),
  )}</dd>`
}

function shape(schema: JsonSchema): Html | string {
  const name = nameOf(schema)
  if (name !== undefined) return html`<p>JSON: <a href="#object-${name}">${name}</a>.</p>`
  const fields = describedFields(schema)
  return fields.length === 0 ? '' : fieldList(fields, false)
}

function refusals(codes: readonly ErrorCode[]): Html | string {
  if (codes.length === 0) return ''
  const inOrder = [...codes].sort((one, other) => ERRORS[one].status - ERRORS[other].status)
  return html`<p class="refusals">Errors: ${inOrder.map(
    (code) =>
      html`<a href="#error-${code}">${ERRORS[code].status}&nbsp;<code>${breakable(code)}</code></a> `,
  )}</p>`
}

function refusalLine(code: ErrorCode): Html {
  const { status, detail } = ERRORS[code]
  return html`<dt id="error-${code}">${status} <code>${breakable(code)}</code></dt><dd>${detail}</dd>`
}

/** What stands in backquotes is code. */
function spoken(text: string): Html[] {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${breakable(part)}</code>`))
}

/** Long names break where a reader would break them. */
function breakable(name: string): Html[] {
  return name.split(/(?<=[/._])/).map((part, at) => (at === 0 ? html`${part}` : html`<wbr>${part}`))
}
