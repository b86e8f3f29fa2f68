/** What a provider says of somebody, claim by claim, and what it would come to. */
import { html } from 'hono/html'
import type { Connection } from '../../connections/connections.ts'
import type { Claims, Gate, UpstreamPerson } from '../../connections/gate.ts'
import { GATE_WORDS } from '../../connections/gate-words.ts'
import { notice } from '../../pages/blocks/notice.ts'
import type { Html } from '../../pages/html.ts'
import { predicateOf } from '../../tenants/rule-predicates.ts'
import { page, type Page, type Place } from './layout.ts'
import type { connectionsEnglish } from './texts/connections-english.ts'

type ConnectionTexts = typeof connectionsEnglish

interface ConnectionTestView {
  readonly place: Place
  readonly connection: Pick<Connection, 'name'>
  readonly claims: Claims
  readonly gated: Gate
}

/** Of one flow, and of nobody's interest. */
const UNSHOWN = ['nonce', 'at_hash', 'c_hash', 's_hash', 'sid', 'problem', 'mapped_groups']
const VALUE_CHARACTERS_MAX = 300

export function connectionTestPage({ place, connection, claims, gated }: ConnectionTestView): Page {
  const { test: texts } = place.texts.connections
  const isIn = gated.kind === 'person'
  const result = isIn
    ? notice('success', texts.passed)
    : notice('problem', `${texts.failed} ${GATE_WORDS[gated.problem]}`)
  const shown = Object.entries(claims).filter(([name]) => !UNSHOWN.includes(name))
  return page({
    place,
    title: texts.title,
    intro: connection.name,
    isWide: true,
    content: html`${result}
      ${
        isIn
          ? html`<p>
                ${texts.person} <strong>${gated.person.email ?? gated.person.subject}</strong> ·
                ${texts.factorMapped}: ${gated.person.hasSecondFactor ? texts.yes : texts.no}
              </p>
              ${mappedOf(gated.person, texts)}`
          : ''
      }
      <h2>${texts.claims}</h2>
      <ul class="items">
        ${shown.map(
          ([name, value]) =>
            html`<li>
              <div><code>${name}</code></div>
              <div><code>${textOf(value)}</code></div>
            </li>`,
        )}
      </ul>
      <p>${texts.notSignedIn}</p>`,
  })
}

/** What of it is kept of a person beside the address. */
function mappedOf(
  { subject, name, groups, attributes: said }: UpstreamPerson,
  texts: ConnectionTexts['test'],
): Html {
  const attributes = said.attributes.map(predicateOf)
  const rows = [
    [texts.identifier, subject],
    [texts.name, name],
    [texts.groups, groups?.isIn.join(', ')],
    [texts.attributes, attributes.length === 0 ? undefined : attributes.join(', ')],
  ] as const
  return html`<dl>
    ${rows.map(([label, value]) =>
      value === undefined
        ? ''
        : html`<dt>${label}</dt>
            <dd>${value === '' ? '–' : value}</dd>`,
    )}
  </dl>`
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text
}
