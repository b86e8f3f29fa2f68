/** `/service/me` for people: who is signed in, where else, and a button behind each. */
import { html } from 'hono/html'
import { DEVICE_FACTS } from '../../shared/device/facts.ts'
import { sayFailing } from '../../shared/device-words/say-failing.ts'
import { DEVICE_WORDS } from '../../shared/device-words/say-reason.ts'
import type { Language } from '../../shared/sign-in/language.ts'
import { frame, readable, type Html } from '../../shared/sign-in/pages.ts'
import { TEXTS } from '../../shared/sign-in/texts/languages.ts'
import { localTimesScript } from './local-times.ts'
import type { Listed } from './own-sessions.ts'

export interface MePage {
  readonly application: string
  readonly name: string
  readonly email: string
  readonly signedInAt: string
  readonly endsAt: string
  readonly accountUrl: string
  /** Shows that a form was sent from this page of this session. */
  readonly csrf: string
  /** Undefined while the control plane does not answer. */
  readonly listed: Listed | undefined
  readonly done: 'session' | 'device' | 'machine' | undefined
}

type Said = (typeof TEXTS)[Language]['me']

/** What every part of the page is written with. */
interface Writing {
  readonly said: Said
  readonly csrf: string
  readonly time: (iso: string) => Html
  readonly language: Language
}

export function mePageHtml(me: MePage, language: Language): string {
  const { listed, done, csrf } = me
  const { me: said, signOut } = TEXTS[language]
  const time = (iso: string) => html`<time datetime="${iso}">${readable(iso, language)}</time>`
  const writing = { said, csrf, time, language }
  return frame(
    { title: said.title, language, className: 'wide' },
    html`<h1>${me.name === '' ? said.title : me.name}</h1>
      <p>${said.intro(me.application)}</p>
      ${done === undefined ? '' : html`<p class="notice" role="status">${said.done[done]}</p>`}
      <dl>
        ${
          me.email === ''
            ? ''
            : html`<dt>${said.email}</dt>
                <dd>${me.email}</dd>`
        }
        <dt>${said.since}</dt>
        <dd>${time(me.signedInAt)}</dd>
        <dt>${said.until}</dt>
        <dd>${time(me.endsAt)}</dd>
      </dl>
      ${listed === undefined ? notAvailable(said) : [sessions(listed, writing), devices(listed, writing), machineList(listed, writing)]}
      <div class="row">
        <form method="post" action="/service/logout"><button>${signOut}</button></form>
        <a class="small" href="${me.accountUrl}">${said.account}</a>
      </div>
      ${localTimesScript}`,
  )
}

function sessions({ sessions }: Listed, { said, csrf, time }: Writing): Html {
  return html`<h2>${said.sessions}</h2>
    <ul>
      ${sessions.map((session, index) =>
        item({
          id: `session-${index}`,
          title: session.browser === '' ? said.unknownBrowser : session.browser,
          badge: session.current ? said.thisOne : undefined,
          facts: [
            session.ip,
            html`${said.since} ${time(session.started_at)}`,
            html`${said.lastUsed} ${time(session.last_seen_at)}`,
          ],
          button: session.current
            ? undefined
            : { label: said.end, field: 'sid', value: session.sid },
          csrf,
        }),
      )}
    </ul>`
}

function devices({ devices }: Listed, { said, csrf, time }: Writing): Html {
  return html`<h2>${said.devices}</h2>
    ${devices.length === 0 ? html`<p>${said.devicesNone}</p>` : ''}
    <ul>
      ${devices.map((device, index) =>
        item({
          id: `device-${index}`,
          title: device.browser === '' ? said.unknownBrowser : device.browser,
          facts: [device.ip, html`${said.lastSignIn} ${time(device.last_seen_at)}`],
          button: { label: said.forget, field: 'device', value: device.device_id },
          csrf,
        }),
      )}
    </ul>`
}

/** What their agents report, and how to mend it; nothing for whoever has none. */
function machineList({ machines }: Listed, { said, csrf, time, language }: Writing): Html {
  if (machines.length === 0) return html``
  const { collected, notCollected } = DEVICE_WORDS[language]
  return html`<h2>${said.machines}</h2>
    <ul>
      ${machines.map((machine, index) =>
        item({
          id: `machine-${index}`,
          title: machine.hostname,
          facts: [
            html`${said.lastReport} ${time(machine.last_seen_at)}`,
            ...failing(machine, { said, language }),
          ],
          button: { label: said.remove, field: 'machine', value: machine.device_id },
          csrf,
        }),
      )}
    </ul>
    <p>${said.machinesIntro}</p>
    <ul class="plain">
      ${collected.map((line) => html`<li>${line}</li>`)}
    </ul>
    <p>${notCollected}</p>`
}

function failing(
  { state, platform, facts }: Listed['machines'][number],
  { said, language }: Pick<Writing, 'said' | 'language'>,
): readonly (string | Html)[] {
  const byName = new Map(facts.map((fact) => [fact.fact, fact]))
  const known = DEVICE_FACTS.flatMap((name) => {
    const fact = byName.get(name)
    return fact === undefined ? [] : [[name, fact] as const]
  })
  const reported = facts.length === 0 ? null : Object.fromEntries(known)
  const wrong = sayFailing(language, { state, platform, facts: reported }).map(
    ({ title, said: found, mend }) => html`${title}: ${found} ${mend ?? ''}`,
  )
  return wrong.length === 0 ? [said.allGood] : wrong
}

interface Item {
  readonly id: string
  readonly title: string
  readonly badge?: string | undefined
  readonly facts: readonly (string | Html)[]
  readonly button:
    | { readonly label: string; readonly field: string; readonly value: string }
    | undefined
  readonly csrf: string
}

/** Ten buttons that say «Sign out» tell nothing apart: each is named together with its item. */
function item({ id, title, badge, facts, button, csrf }: Item): Html {
  return html`<li>
    <div>
      <strong id="${id}">${title}</strong>
      ${badge === undefined ? '' : html`<span class="badge">${badge}</span>`}
      ${facts.map((fact) => html`<span class="fact">${fact}</span>`)}
    </div>
    ${
      button === undefined
        ? ''
        : html`<form method="post" action="/service/me">
            <input type="hidden" name="${button.field}" value="${button.value}" />
            <input type="hidden" name="csrf" value="${csrf}" />
            <button class="small" id="${id}-do" aria-labelledby="${id}-do ${id}">
              ${button.label}
            </button>
          </form>`
    }
  </li>`
}

function notAvailable(said: Said): Html {
  return html`<p class="notice" role="status">${said.listUnavailable}</p>`
}
