/** A person's account at a glance: who they are, how they prove it, where they are signed in. */
import { html } from 'hono/html'
import { form, linkButton } from '../blocks/form.ts'
import { itemList, type Item } from '../blocks/item-list.ts'
import { moment } from '../blocks/moment.ts'
import { notice } from '../blocks/notice.ts'
import { page, type Page, type Place } from '../layout.ts'
import type { Html } from '../../../pages/html.ts'
import type { Texts } from '../texts/english.ts'

type Own = Texts['account']['own']
export type DoneKind = keyof Own['done']
export type OwnProblem = keyof Own['problems']

interface OwnAccountView {
  readonly place: Place & { readonly name: string }
  /** `https://id.example.com/auth/realms/acme/account` */
  readonly accountUrl: string
  readonly applicationUrl: string
  readonly csrf: string
  readonly person: {
    readonly name: string
    readonly username: string
    readonly email: string
    readonly passwordFromMs: number
    /** The tenant keeps its users elsewhere, so that nothing of this can be changed here. */
    readonly isElsewhere: boolean
  }
  readonly factors: readonly FactorView[]
  /** Of the paper; undefined where there is none. */
  readonly codesLeft: number | undefined
  readonly canAddPasskey: boolean
  readonly sessions: readonly SessionView[]
  readonly devices: readonly DeviceView[]
  readonly done?: DoneKind | undefined
  readonly problem?: OwnProblem | undefined
}

interface FactorView {
  readonly factorId: string
  readonly kind: 'totp' | 'passkey'
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
}

interface SessionView {
  readonly sid: string
  readonly browser: string
  readonly ip: string
  readonly isCurrent: boolean
  readonly startedAtMs: number
  readonly lastSeenAtMs: number
}

interface DeviceView {
  readonly deviceId: string
  readonly browser: string
  readonly ip: string
  readonly lastSeenAtMs: number
}

export function ownAccountPage(view: OwnAccountView): Page {
  const { place, person, done, problem } = view
  const { texts } = place
  const { own } = texts.account
  return page({
    place,
    title: own.title,
    intro: own.intro(person.username),
    isProblem: problem !== undefined,
    isWide: true,
    content: html`
      ${problem === undefined ? '' : notice('problem', own.problems[problem])}
      ${done === undefined || problem !== undefined ? '' : notice('success', own.done[done])}
      ${profile(view)} ${factors(view)} ${sessions(view)} ${devices(view)}
      ${linkButton(view.applicationUrl, texts.backToApplication, { isQuiet: true })}
    `,
  })
}

function profile({ place, accountUrl, person }: OwnAccountView): Html {
  const { texts } = place
  const { own } = texts.account
  const { name, username, email, passwordFromMs, isElsewhere } = person
  const to = (where: string) =>
    isElsewhere ? undefined : { href: `${accountUrl}/${where}`, label: own.change }
  const items: Item[] = [
    { title: own.name, facts: [name], link: to('profile') },
    { title: own.username, facts: [username] },
    { title: own.email, facts: [email], link: to('email') },
  ]
  const chosen = html`${own.passwordFrom} ${moment(texts, passwordFromMs)}`
  if (!isElsewhere) items.push({ title: own.password, facts: [chosen], link: to('password') })
  return html`<h2>${own.profile}</h2>
    ${isElsewhere ? html`<p>${own.elsewhere}</p>` : ''} ${itemList('profile', items, '')}`
}

function factors({ place, accountUrl, csrf, codesLeft, canAddPasskey, ...view }: OwnAccountView) {
  const { texts } = place
  const { own } = texts.account
  const items: Item[] = view.factors.map(({ factorId, kind, createdAtMs, lastUsedAtMs }) => ({
    title: own.factorKinds[kind],
    facts: [
      html`${own.factorSince} ${moment(texts, createdAtMs)}`,
      lastUsedAtMs === null
        ? own.factorUnused
        : html`${own.factorUsed} ${moment(texts, lastUsedAtMs)}`,
    ],
    button: {
      action: `${accountUrl}/factor`,
      label: own.remove,
      hidden: { factor: factorId, csrf },
    },
  }))
  if (codesLeft !== undefined)
    items.push({
      title: own.factorKinds.recovery,
      facts: [own.codesLeft(codesLeft)],
      button: { action: `${accountUrl}/recovery-codes`, label: own.newCodes, hidden: { csrf } },
    })
  return html`<h2>${own.factors}</h2>
    ${itemList('factor', items, own.factorsNone)}
    <p><a href="${accountUrl}/authenticator">${own.addApp}</a></p>
    ${canAddPasskey ? html`<p><a href="${accountUrl}/passkey">${own.addPasskey}</a></p>` : ''}`
}

function sessions({ place, accountUrl, csrf, sessions }: OwnAccountView): Html {
  const { texts } = place
  const { own } = texts.account
  const action = `${accountUrl}/sessions`
  const items: Item[] = sessions.map((session) => ({
    title: session.browser === '' ? own.unknownBrowser : session.browser,
    badge: session.isCurrent ? own.thisOne : undefined,
    facts: [
      session.ip,
      html`${own.since} ${moment(texts, session.startedAtMs)}`,
      html`${own.lastSeen} ${moment(texts, session.lastSeenAtMs)}`,
    ],
    button: session.isCurrent
      ? undefined
      : { action, label: own.end, hidden: { sid: session.sid, csrf } },
  }))
  const hasOthers = sessions.some(({ isCurrent }) => !isCurrent)
  return html`<h2>${own.sessions}</h2>
    ${itemList('session', items, '')}
    ${
      hasOthers
        ? form({ action, submit: own.endOthers, hidden: { others: '1', csrf }, isQuiet: true })
        : ''
    }`
}

function devices({ place, accountUrl, csrf, devices }: OwnAccountView): Html {
  const { texts } = place
  const { own } = texts.account
  const items: Item[] = devices.map(({ deviceId, browser, ip, lastSeenAtMs }) => ({
    title: browser === '' ? own.unknownBrowser : browser,
    facts: [ip, html`${own.lastSignIn} ${moment(texts, lastSeenAtMs)}`],
    button: {
      action: `${accountUrl}/devices`,
      label: own.forget,
      hidden: { device: deviceId, csrf },
    },
  }))
  return html`<h2>${own.devices}</h2>
    <p>${own.devicesIntro}</p>
    ${itemList('device', items, own.devicesNone)}`
}
