/** What a provider says of somebody, claim by claim, and what it would come to. */
import { html } from 'hono/html'
import type { Connection } from '../../connections/connections.ts'
import type { Claims, Gate } from '../../connections/gate.ts'
import { GATE_WORDS } from '../../connections/gate-words.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { page, type Page, type Place } from './layout.ts'

interface ConnectionTestView {
  readonly place: Place
  readonly connection: Pick<Connection, 'name'>
  readonly claims: Claims
  readonly gated: Gate
}

/** Of one flow, and of nobody's interest. */
const UNSHOWN = ['nonce', 'at_hash', 'c_hash', 's_hash', 'sid']
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
            </p>`
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

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text
}
