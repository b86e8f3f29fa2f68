/** Where the links of alert emails lead: for people who have an address, and no account here. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { languageOf } from '../../shared/sign-in/language.ts'
import { ALERT_EMAILS_PATH } from '../mail/alert-links.ts'
import type { AlertRecipient } from '../mail/alert-recipients.ts'
import { form } from './blocks/form.ts'
import { action, page, type View, type Visit } from './route.ts'
import type { ConsoleWorld } from './world.ts'

const LINK_MAX = 200
const link = v.pipe(v.string(), v.maxLength(LINK_MAX, 'the link from the mail'))
const LinkBody = v.strictObject({ link })

interface Words {
  readonly title: string
  readonly asked: (email: string, tenant: string) => string
  readonly confirm: string
  readonly confirmed: (email: string, tenant: string) => string
  readonly stop: string
  readonly stopped: (email: string, tenant: string) => string
  readonly over: string
}

const ENGLISH: Words = {
  title: 'Alert emails',
  asked: (email, tenant) =>
    `Send alerts of ${tenant} to ${email}? You can unsubscribe at any time.`,
  confirm: 'Yes, send alerts',
  confirmed: (email, tenant) => `${email} gets alerts of ${tenant}.`,
  stop: 'Unsubscribe',
  stopped: (email, tenant) =>
    `${email} gets no more alerts of ${tenant}, and isn’t asked again for 180 days.`,
  over: 'This link has expired or was already used. If you want alerts, ask the person who entered your address to add it again. If you unsubscribed, that works after 180 days.',
}

const GERMAN: Words = {
  title: 'Alarme per E-Mail',
  asked: (email, tenant) =>
    `Sollen Alarme von ${tenant} an ${email} gehen? Sie können sie jederzeit abbestellen.`,
  confirm: 'Ja, Alarme senden',
  confirmed: (email, tenant) => `${email} erhält Alarme von ${tenant}.`,
  stop: 'Abbestellen',
  stopped: (email, tenant) =>
    `${email} erhält keine Alarme von ${tenant} mehr und wird 180 Tage lang nicht wieder gefragt.`,
  over: 'Dieser Link ist abgelaufen oder wurde schon benutzt. Wenn Sie Alarme möchten, bitten Sie die Person, die Ihre Adresse eingetragen hat, sie noch einmal einzutragen; nach einer Abbestellung geht das erst nach 180 Tagen.',
}

const wordsFor = ({ language }: Pick<AlertRecipient, 'language'>) =>
  language === 'de' ? GERMAN : ENGLISH

export function alertEmailsRoutes({ alertRecipients }: ConsoleWorld) {
  /** Nobody's link has no language of its own: then the browser's. */
  async function known({ request }: Visit, secret: string): Promise<AlertRecipient> {
    const recipient = await alertRecipients.look(secret)
    const language = languageOf(request.headers.get('accept-language') ?? '')
    if (recipient === undefined) throw new Refusal('ticket_spent', {}, wordsFor({ language }).over)
    return recipient
  }

  /** Opening it decides nothing: programs that look at mails open links, too. */
  function show(visit: Visit, recipient: AlertRecipient, secret: string): View {
    const { email, tenantName, isConfirmed } = recipient
    const words = wordsFor(recipient)
    const hidden = { link: secret }
    const yes = { action: `${ALERT_EMAILS_PATH}/confirm`, submit: words.confirm, hidden }
    const no = { action: `${ALERT_EMAILS_PATH}/stop`, submit: words.stop, hidden }
    return said(
      recipient,
      isConfirmed ? words.confirmed(email, tenantName) : words.asked(email, tenantName),
      html`${isConfirmed ? '' : form(visit, yes)} ${form(visit, { ...no, look: 'quiet' })}`,
    )
  }

  async function stopped(visit: Visit, secret: string): Promise<View> {
    const recipient = await known(visit, secret)
    await alertRecipients.stop(secret, visit.requestId)
    const { email, tenantName } = recipient
    return said(recipient, wordsFor(recipient).stopped(email, tenantName))
  }

  return [
    page(
      { path: ALERT_EMAILS_PATH, role: 'anyone', query: { link: v.optional(link, '') } },
      async (visit) => show(visit, await known(visit, visit.query.link), visit.query.link),
    ),
    action(
      {
        path: `${ALERT_EMAILS_PATH}/confirm`,
        role: 'anyone',
        form: { link: 'text' },
        body: LinkBody,
      },
      async (visit, { link: secret }) => {
        await known(visit, secret)
        const stopSecret = await alertRecipients.confirm(secret, visit.requestId)
        return show(visit, await known(visit, stopSecret), stopSecret)
      },
    ),
    action(
      { path: `${ALERT_EMAILS_PATH}/stop`, role: 'anyone', form: { link: 'text' }, body: LinkBody },
      (visit, { link: secret }) => stopped(visit, secret),
    ),
    // a mail program does it at its own button; which kind of form it sends is up to it
    action(
      { path: `${ALERT_EMAILS_PATH}/stop/{link}`, role: 'anyone', form: { file: 'optional' } },
      (visit) => stopped(visit, visit.path.link.slice(0, LINK_MAX)),
    ),
  ]
}

function said(recipient: AlertRecipient, text: string, more: View['content'] = html``): View {
  return {
    title: wordsFor(recipient).title,
    content: html`<div class="card narrow" lang="${recipient.language}">
      <p role="status">${text}</p>
      ${more}
    </div>`,
  }
}
