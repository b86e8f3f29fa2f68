/** `/service/me` for people: who is signed in, where else, and a button behind each. */
import { html } from 'hono/html'
import { frame, readable, type Html } from '../../shared/sign-in/pages.ts'
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
  readonly done: keyof typeof DONE | undefined
}

const DONE = {
  session: 'The session has ended. Whoever used it is signed out.',
  device: 'The device is forgotten. Its next sign-in is one from a new device.',
} as const

export function mePageHtml(me: MePage): string {
  const { listed, done, csrf } = me
  return frame(
    'Your session',
    html`<h1>${me.name === '' ? 'Your session' : me.name}</h1>
      <p>You are signed in to ${me.application}.</p>
      ${done === undefined ? '' : html`<p class="notice" role="status">${DONE[done]}</p>`}
      <dl>
        ${
          me.email === ''
            ? ''
            : html`<dt>E-mail</dt>
                <dd>${me.email}</dd>`
        }
        <dt>Since</dt>
        <dd>${time(me.signedInAt)}</dd>
        <dt>Until</dt>
        <dd>${time(me.endsAt)}</dd>
      </dl>
      ${listed === undefined ? notAvailable() : [sessions(listed, csrf), devices(listed, csrf)]}
      <div class="row">
        <form method="post" action="/service/logout"><button>Sign out</button></form>
        <a class="small" href="${me.accountUrl}">Password and account</a>
      </div>`,
    'wide',
  )
}

function sessions({ sessions }: Listed, csrf: string): Html {
  return html`<h2>Where you are signed in</h2>
    <ul>
      ${sessions.map((session, index) =>
        item({
          id: `session-${index}`,
          title: session.browser === '' ? 'Unknown browser' : session.browser,
          badge: session.current ? 'this one' : undefined,
          facts: [
            session.ip,
            html`Since ${time(session.started_at)}`,
            html`Last used ${time(session.last_seen_at)}`,
          ],
          button: session.current ? undefined : { label: 'End', field: 'sid', value: session.sid },
          csrf,
        }),
      )}
    </ul>`
}

function devices({ devices }: Listed, csrf: string): Html {
  return html`<h2>Browsers that you have used</h2>
    ${devices.length === 0 ? html`<p>None is remembered.</p>` : ''}
    <ul>
      ${devices.map((device, index) =>
        item({
          id: `device-${index}`,
          title: device.browser === '' ? 'Unknown browser' : device.browser,
          facts: [device.ip, html`Last sign-in ${time(device.last_seen_at)}`],
          button: { label: 'Forget', field: 'device', value: device.device_id },
          csrf,
        }),
      )}
    </ul>`
}

interface Item {
  readonly id: string
  readonly title: string
  readonly badge?: string | undefined
  readonly facts: readonly (string | Html)[]
  readonly button:
    { readonly label: string; readonly field: string; readonly value: string } | undefined
  readonly csrf: string
}

/** Ten buttons that say «End» tell nothing apart: each is named together with its item. */
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

function notAvailable(): Html {
  return html`<p class="notice" role="status">
    The list of your sessions and devices is not available right now. Try again in a moment.
  </p>`
}

function time(iso: string): Html {
  return html`<time datetime="${iso}">${readable(iso)}</time>`
}
