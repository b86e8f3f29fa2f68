/**
 * Every page with example data, for all that is asked of every page: both languages, axe, phone
 * and desk, screenshots. A new page gets a line here; a test says so if it is forgotten.
 */
import { html } from 'hono/html'
import {
  choosePasswordPage,
  forgottenPage,
  mailSentPage,
  passwordSavedPage,
} from '../../../control-plane/realm/pages/account-pages.ts'
import {
  changeEmailPage,
  changeNamePage,
  changePasswordPage,
  confirmPersonPage,
  emailAskedPage,
  notSignedInPage,
} from '../../../control-plane/realm/pages/account/change-pages.ts'
import {
  addAppPage,
  addPasskeyPage,
} from '../../../control-plane/realm/pages/account/factor-pages.ts'
import { ownAccountPage } from '../../../control-plane/realm/pages/account/own-account-page.ts'
import { encodeQR } from 'qr'
import { message } from '../../../control-plane/realm/answers.ts'
import { codeField, textField } from '../../../control-plane/pages/blocks/field.ts'
import { linkButton } from '../../../control-plane/pages/blocks/form.ts'
import { notice } from '../../../control-plane/pages/blocks/notice.ts'
import { form, otherWay } from '../../../control-plane/realm/pages/blocks/form.ts'
import { itemList } from '../../../control-plane/realm/pages/blocks/item-list.ts'
import { moment } from '../../../control-plane/realm/pages/blocks/moment.ts'
import { qrCode, secretBlock } from '../../../control-plane/realm/pages/blocks/secret.ts'
import {
  deviceCheckedPage,
  deviceFailedPage,
  devicePage,
  type DevicePageView,
} from '../../../control-plane/realm/pages/device-page.ts'
import { enrolPage } from '../../../control-plane/realm/pages/enrol-page.ts'
import { page, type Page, type Place } from '../../../control-plane/realm/pages/layout.ts'
import { newPasswordPage } from '../../../control-plane/realm/pages/new-password-page.ts'
import { recoveryCodesPage } from '../../../control-plane/realm/pages/recovery-codes-page.ts'
import { secondFactorPage } from '../../../control-plane/realm/pages/second-factor-page.ts'
import { gate } from '../../../control-plane/connections/gate.ts'
import { connectionTestPage } from '../../../control-plane/realm/pages/connection-test-page.ts'
import { addressPage } from '../../../control-plane/realm/pages/address-page.ts'
import { signInPage } from '../../../control-plane/realm/pages/sign-in-page.ts'
import { signedOutPage, signOutPage } from '../../../control-plane/realm/pages/sign-out-pages.ts'
import { english, type MessageKind } from '../../../control-plane/realm/pages/texts/english.ts'
import { MAIL_EXAMPLES } from './mail-page-examples.ts'

export type NamedPlace = Place & { readonly name: string }

const APPLICATION = 'https://app.example.com/'
const ACCOUNT = 'https://id.example.com/auth/realms/acme/account'
const ACTION = 'https://id.example.com/auth/realms/acme/sign-in/abc'
const PASSKEY = { options: {}, scriptUrl: 'https://id.example.com/auth/realms/acme/passkey.js' }
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const PROVIDERS = ['Acme', 'Entra ID'].map((name) => ({ name, href: ACTION }))
const PROVIDER = { issuer: 'https://id.acme.example', hostedDomain: 'acme.example', mfaValues: [] }
const CLAIMS = {
  iss: PROVIDER.issuer,
  sub: '00u1a2b3c4d5e6f7g8h9',
  email: 'ada@acme.example',
  email_verified: true,
  amr: ['pwd', 'mfa'],
}
const KINDS = Object.keys(english.messages) as MessageKind[]

export const EXAMPLES: Readonly<Record<string, (place: NamedPlace) => Page>> = {
  signInPage: (place) => signInPage(signIn(place)),
  'signInPage, wrong password': (place) =>
    signInPage({
      ...signIn(place),
      username: 'ada',
      problem: place.texts.attempt.credentials_wrong,
    }),
  addressPage: (place) => addressPage({ ...signIn(place), connections: PROVIDERS }),
  'addressPage, no provider for it': (place) =>
    addressPage({
      ...{
        ...signIn(place),
        connections: PROVIDERS,
        emergencyUrl: ACTION,
        username: 'ada@x.example',
      },
      problem: place.texts.connections.noneForAddress,
    }),
  'signInPage, behind the address': (place) =>
    signInPage({ ...signIn(place), username: 'ada@acme.example', otherWaysUrl: ACTION }),
  'signInPage, with providers alone': (place) =>
    signInPage({ ...signIn(place), connections: PROVIDERS, emergencyUrl: ACTION }),
  'signInPage, for emergencies': (place) =>
    signInPage({
      ...{ ...signIn(place), connections: PROVIDERS, isEmergency: true, username: 'ada' },
      problem: place.texts.attempt.connection_required,
    }),
  'signInPage, to connect an account': (place) =>
    signInPage({ ...signIn(place), username: 'ada', notice: place.texts.connections.connect }),
  'signInPage, with email': (place) => signInPage({ ...signIn(place), isMailOffered: true }),
  ...MAIL_EXAMPLES,
  connectionTestPage: (place) =>
    connectionTestPage({
      ...{ place, connection: { name: 'Acme' }, claims: CLAIMS },
      gated: gate({ ...PROVIDER, preset: 'oidc' }, CLAIMS),
    }),
  'connectionTestPage, refused': (place) =>
    connectionTestPage({
      ...{ place, connection: { name: 'Acme' }, claims: CLAIMS },
      gated: gate({ ...PROVIDER, preset: 'google' }, CLAIMS),
    }),
  signOutPage: (place) =>
    signOutPage({
      place,
      action: ACTION,
      fields: { state: 'x', confirmation: 'y' },
      applicationUrl: APPLICATION,
    }),
  signedOutPage: (place) => signedOutPage(place, APPLICATION),
  forgottenPage: (place) => forgottenPage({ place, action: ACTION }),
  mailSentPage: (place) => mailSentPage(place, APPLICATION),
  choosePasswordPage: (place) => choosePasswordPage({ ...choosing(place), kind: 'invite' }),
  'choosePasswordPage, too weak': (place) =>
    choosePasswordPage({
      ...choosing(place),
      kind: 'reset',
      problem: place.texts.steps.passwordProblem.password_too_weak,
    }),
  passwordSavedPage: (place) => passwordSavedPage(place, 'invite', APPLICATION),
  secondFactorPage: (place) =>
    secondFactorPage({ place, action: ACTION, username: 'ada', hasApp: true, passkey: PASSKEY }),
  'secondFactorPage, wrong code': (place) =>
    secondFactorPage({
      place,
      action: ACTION,
      username: 'ada',
      hasApp: true,
      problem: place.texts.attempt.code_wrong,
    }),
  devicePage: (place) => devicePage(device(place, {})),
  'devicePage, not checked yet': (place) =>
    devicePage(device(place, { problem: place.texts.attempt.device_proof_needed })),
  'devicePage, wrong typed code': (place) =>
    devicePage(device(place, { mayType: true, typedProblem: place.texts.device.typedWrong })),
  'devicePage, no agent': (place) => devicePage(device(place, { kind: 'missing' })),
  'devicePage, failing': (place) =>
    devicePage(device(place, { kind: 'failing', failing: FAILING })),
  'devicePage, warned until a day': (place) =>
    devicePage(
      device(place, { kind: 'warned', failing: FAILING, graceUntil: Date.UTC(2027, 2, 1) }),
    ),
  deviceCheckedPage: (place) => deviceCheckedPage(place, ACTION),
  deviceFailedPage: (place) => deviceFailedPage(place, 'device_suspect_clone', ACTION),
  enrolPage: (place) =>
    enrolPage({
      place,
      action: ACTION,
      username: 'ada',
      key: 'JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP',
      qrSvg: encodeQR('otpauth://totp/Acme:ada?secret=JBSWY3DPEHPK3PXP', 'svg', { border: 1 }),
      passkey: PASSKEY,
    }),
  recoveryCodesPage: (place) =>
    recoveryCodesPage({ place, action: ACTION, codes: Array<string>(10).fill('ABCDE-23456') }),
  newPasswordPage: (place) =>
    newPasswordPage({
      place,
      action: ACTION,
      username: 'ada',
      charactersMin: 8,
      problem: place.texts.steps.passwordProblem.password_breached,
    }),
  ownAccountPage: (place) => ownAccountPage(ownAccount(place)),
  'ownAccountPage, kept elsewhere and with a problem': (place) =>
    ownAccountPage({
      ...ownAccount(place),
      user: { ...ownAccount(place).user, source: 'directory' },
      factors: [],
      machines: [],
      devices: [],
      sessions: ownAccount(place).sessions.slice(0, 1),
      problem: 'factor_needed',
    }),
  changeNamePage: (place) => changeNamePage(changing(place)),
  changeEmailPage: (place) => changeEmailPage({ ...changing(place), email: 'ada@example.com' }),
  emailAskedPage: (place) => emailAskedPage(place, 'new@example.com', ACCOUNT),
  changePasswordPage: (place) =>
    changePasswordPage({
      ...changing(place),
      charactersMin: 8,
      problem: place.texts.account.own.problems.password_wrong,
      wrong: ['current'],
    }),
  confirmPersonPage: (place) => confirmPersonPage(confirming(place)),
  'confirmPersonPage, with a factor': (place) =>
    confirmPersonPage({
      ...confirming(place),
      needsCode: true,
      hasApp: true,
      passkey: PASSKEY,
      problem: place.texts.attempt.code_wrong,
      wrong: 'code',
    }),
  notSignedInPage: (place) => notSignedInPage(place, 'notSignedIn', APPLICATION),
  'notSignedInPage, again': (place) => notSignedInPage(place, 'signInAgain', APPLICATION),
  addAppPage: (place) =>
    addAppPage({
      ...changing(place),
      hidden: { sealed: 'x' },
      key: 'JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP',
      qrSvg: encodeQR('otpauth://totp/Acme:ada?secret=JBSWY3DPEHPK3PXP', 'svg', { border: 1 }),
    }),
  addPasskeyPage: (place) => addPasskeyPage({ ...changing(place), hidden: {}, ...PASSKEY }),
  ...Object.fromEntries(
    KINDS.map((kind) => [
      `messagePage, ${kind}`,
      (place: NamedPlace) =>
        message(kind, {
          place,
          applicationUrl: APPLICATION,
          details: kind === 'request_wrong' ? ['invalid_request', '0d9e4c1a'] : [],
        }),
    ]),
  ),
  'messagePage, without a tenant': ({ texts, host }) =>
    message('unknown', { place: { texts, host } }),
  'blocks, form': formBlocks,
  'blocks, list': listBlocks,
  'blocks, secret': secretBlocks,
}

function changing(place: NamedPlace) {
  return { place, action: ACTION, accountUrl: ACCOUNT, csrf: 'x', value: 'Ada' }
}

function confirming(place: NamedPlace) {
  const { action, accountUrl } = changing(place)
  const hidden = { csrf: 'x' }
  return { place, action, accountUrl, hidden, username: 'ada', needsCode: false, hasApp: false }
}

function ownAccount(place: NamedPlace) {
  const atMs = Date.UTC(2026, 4, 17, 9, 30)
  const session = { ip: '192.0.2.7', createdAt: atMs, lastSeenAt: atMs }
  const codes = Array.from({ length: 10 }, (_, at) => ({
    factorId: `code_${at}`,
    kind: 'recovery' as const,
    createdAt: atMs,
    lastUsedAt: at === 0 ? atMs : null,
  }))
  return {
    place,
    accountUrl: ACCOUNT,
    applicationUrl: APPLICATION,
    csrf: 'x',
    user: {
      name: 'Ada Lovelace',
      username: 'ada',
      email: 'ada@example.com',
      passwordChangedAt: atMs,
      source: 'own',
    },
    factors: [
      { factorId: 'fac_1', kind: 'totp', createdAt: atMs, lastUsedAt: atMs },
      { factorId: 'fac_2', kind: 'passkey', createdAt: atMs, lastUsedAt: null },
      ...codes,
    ],
    canAddPasskey: true,
    sid: 'a',
    sessions: [
      { ...session, sid: 'a', userAgent: FIREFOX },
      { ...session, sid: 'b', userAgent: IPHONE, ip: '2001:db8::1:2:3:4' },
    ],
    machines: [
      {
        deviceId: 'dev_0123456789abcdef',
        hostname: 'adas-laptop',
        platform: 'linux',
        state: 'approved',
        seenAt: Date.UTC(2026, 1, 3),
        posture: null,
      },
    ],
    devices: [
      { deviceId: 'dev_1', userAgent: FIREFOX, ip: '192.0.2.7', lastSeenAt: atMs },
      { deviceId: 'dev_2', userAgent: '', ip: '192.0.2.9', lastSeenAt: atMs },
    ],
  } as const
}

function choosing(place: NamedPlace) {
  return { place, action: ACTION, username: 'ada', charactersMin: 8 }
}

function signIn(place: NamedPlace) {
  return { place, applicationHost: 'app.example.com', action: ACTION, username: '' }
}

/** How the blocks look together; the words are only here. */
function formBlocks(place: NamedPlace): Page {
  return page({
    place,
    title: 'Code',
    heading: 'A second proof',
    intro: 'Open your authenticator and enter what it shows.',
    problem: 'That code is not right.',
    content: html`
      ${notice('info', 'We have not seen this device before.')}
      ${form({
        action: ACTION,
        submit: 'Go on',
        hidden: { step: 'code' },
        content: [
          codeField({
            label: 'Code',
            hint: 'Six digits; they change every 30 seconds.',
            problem: 'That code is not right.',
            hasFocus: true,
          }),
          textField({
            name: 'device',
            label: 'Name of this device',
            autocomplete: 'off',
          }),
        ],
      })}
      ${form({ action: ACTION, submit: 'Use a passkey', isQuiet: true })}
      ${otherWay('#other', 'Use a recovery code')}
    `,
  })
}

function listBlocks(place: NamedPlace): Page {
  const at = Date.UTC(2026, 4, 17, 9, 30)
  return page({
    place,
    title: 'Devices',
    heading: 'Your devices',
    intro: 'Active sessions.',
    isWide: true,
    content: html`
      ${notice('success', 'The session has ended.')}
      ${itemList(
        'session',
        [
          {
            title: 'Firefox on Linux',
            badge: 'this device',
            facts: ['192.0.2.7', moment(place.texts, at)],
          },
          {
            title: 'A-browser-with-a-name-that-goes-on-and-on-and-does-not-break-anywhere-at-all',
            facts: ['2001:db8::1:2:3:4', moment(place.texts, at)],
            button: { action: ACTION, label: 'End', hidden: { sid: 'abc' } },
          },
        ],
        'None.',
      )}
      <h2>Passkeys</h2>
      ${itemList('passkey', [], 'You have none yet.')}
      ${linkButton('#more', 'Add one', 'quiet')}
    `,
  })
}

function secretBlocks(place: NamedPlace): Page {
  const codes = ['k3vt-9wqp', 'm7rd-2hxz', 'p4ns-8cfj', 'w6ga-5tbk', 'y2le-7mvu', 'z9ch-3dqr']
  const svg = '<svg viewBox="0 0 3 3"><path d="M0 0h1v1H0zM2 0h1v1H2zM1 1h1v1H1z"/></svg>'
  return page({
    place,
    title: 'Recovery codes',
    heading: 'Keep these codes',
    intro: 'Each works once. Print this page, or write them down.',
    content: html`
      ${secretBlock('Recovery codes', codes)} ${qrCode('The same as a picture', svg)}
      ${secretBlock('Key', ['JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP'])}
      ${form({ action: ACTION, submit: 'I saved them' })}
    `,
  })
}

const FAILING = [
  { what: 'disk_encrypted', reason: 'partly_encrypted', detail: '/dev/sdb1 at /home' },
  { what: 'firewall', reason: 'no_firewall' },
  { what: 'os', reason: 'os_too_old', detail: '24.04' },
] as const

function device(place: NamedPlace, view: Partial<DevicePageView>): DevicePageView {
  return {
    ...{ place, action: ACTION, username: 'ada', kind: 'asked', mayGoOn: false, mayType: false },
    ...{ platform: 'linux', failing: [], checkUrl: `${ACTION}/device` },
    ...{ stateUrl: `${ACTION}/device/state`, scriptUrl: `${ACTION}/device.js` },
    ...view,
  }
}
