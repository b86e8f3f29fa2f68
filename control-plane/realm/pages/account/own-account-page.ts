/** A person's account at a glance: who they are, how they prove it, where they are signed in. */
import { html } from 'hono/html'
import { browserName } from '../../../accounts/browser-name.ts'
import type { KnownDevice } from '../../../accounts/devices.ts'
import type { Factor } from '../../../accounts/factors.ts'
import type { User } from '../../../accounts/users.ts'
import type { Session } from '../../../sessions/sessions.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { form } from '../blocks/form.ts'
import { itemList, type Item } from '../blocks/item-list.ts'
import { moment } from '../blocks/moment.ts'
import { page, type Page, type Place } from '../layout.ts'
import { machineList, type OwnMachine } from './own-machines.ts'
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
  readonly user: Pick<User, 'name' | 'username' | 'email' | 'passwordChangedAt' | 'source'>
  /** With the codes of the paper, which are one line. */
  readonly factors: readonly Pick<Factor, 'factorId' | 'kind' | 'createdAt' | 'lastUsedAt'>[]
  readonly canAddPasskey: boolean
  /** Which of the sessions is this one. */
  readonly sid: string
  readonly sessions: readonly Pick<
    Session,
    'sid' | 'userAgent' | 'ip' | 'createdAt' | 'lastSeenAt'
  >[]
  readonly devices: readonly Pick<KnownDevice, 'deviceId' | 'userAgent' | 'ip' | 'lastSeenAt'>[]
  readonly machines: readonly OwnMachine[]
  readonly done?: DoneKind | undefined
  readonly problem?: OwnProblem | undefined
}

export function ownAccountPage(view: OwnAccountView): Page {
  const { place, user, done, problem } = view
  const { texts } = place
  const { own } = texts.account
  return page({
    place,
    title: own.title,
    intro: own.intro(user.username),
    problem: problem && own.problems[problem],
    isWide: true,
    scriptUrl: place.scriptUrl,
    content: html`
      ${done === undefined || problem !== undefined ? '' : notice('success', own.done[done])}
      ${profile(view)} ${factors(view)} ${sessions(view)} ${devices(view)}
      ${machineList(view)}
      ${linkButton(view.applicationUrl, texts.backToApplication, 'quiet')}
    `,
  })
}

function profile({ place, accountUrl, user }: OwnAccountView): Html {
  const { texts } = place
  const { own } = texts.account
  const { name, username, email, passwordChangedAt, source } = user
  // the tenant keeps its users elsewhere, so that nothing of this can be changed here
  const isElsewhere = source === 'directory'
  const to = (where: string) =>
    isElsewhere ? undefined : { href: `${accountUrl}/${where}`, label: own.change }
  const items: Item[] = [
    { title: own.name, facts: [name], link: to('profile') },
    { title: own.username, facts: [username] },
    { title: own.email, facts: [email], link: to('email') },
  ]
  const chosen = html`${own.passwordFrom} ${moment(texts, passwordChangedAt)}`
  if (!isElsewhere) items.push({ title: own.password, facts: [chosen], link: to('password') })
  return html`<h2>${own.profile}</h2>
    ${isElsewhere ? html`<p>${own.elsewhere}</p>` : ''} ${itemList('profile', items, '')}`
}

function factors({ place, accountUrl, csrf, canAddPasskey, factors: all }: OwnAccountView): Html {
  const { texts } = place
  const { own } = texts.account
  const codes = all.filter(({ kind }) => kind === 'recovery')
  const items: Item[] = all
    .filter(({ kind }) => kind !== 'recovery')
    .map(({ factorId, kind, createdAt, lastUsedAt }) => ({
      title: own.factorKinds[kind],
      facts: [
        html`${own.added} ${moment(texts, createdAt)}`,
        lastUsedAt === null ? own.factorUnused : html`${own.lastSeen} ${moment(texts, lastUsedAt)}`,
      ],
      button: {
        action: `${accountUrl}/factor`,
        label: own.remove,
        hidden: { factor: factorId, csrf },
      },
    }))
  if (items.length > 0)
    items.push({
      title: own.factorKinds.recovery,
      facts: [own.codesLeft(codes.filter(({ lastUsedAt }) => lastUsedAt === null).length)],
      button: { action: `${accountUrl}/recovery-codes`, label: own.newCodes, hidden: { csrf } },
    })
  return html`<h2>${own.factors}</h2>
    ${itemList('factor', items, own.factorsNone)}
    <p><a href="${accountUrl}/authenticator">${own.addApp}</a></p>
    ${canAddPasskey ? html`<p><a href="${accountUrl}/passkey">${own.addPasskey}</a></p>` : ''}`
}

function sessions({ place, accountUrl, csrf, sid: current, sessions }: OwnAccountView): Html {
  const { texts } = place
  const { own } = texts.account
  const action = `${accountUrl}/sessions`
  const items: Item[] = sessions.map(({ sid, userAgent, ip, createdAt, lastSeenAt }) => ({
    title: browserName(userAgent) || own.unknownBrowser,
    badge: sid === current ? own.thisOne : undefined,
    facts: [
      ip,
      html`${own.since} ${moment(texts, createdAt)}`,
      html`${own.lastSeen} ${moment(texts, lastSeenAt)}`,
    ],
    button: sid === current ? undefined : { action, label: own.end, hidden: { sid, csrf } },
  }))
  const hasOthers = sessions.some(({ sid }) => sid !== current)
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
  const items: Item[] = devices.map(({ deviceId, userAgent, ip, lastSeenAt }) => ({
    title: browserName(userAgent) || own.unknownBrowser,
    facts: [ip, html`${own.lastSignIn} ${moment(texts, lastSeenAt)}`],
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
