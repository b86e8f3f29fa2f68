/** Mail by SMTP. A server that does not offer TLS is only spoken to where the address says so. */
import { isLoopbackHost } from '../../shared/hosts.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { MailTransport } from './mails.ts'

interface SmtpSettings {
  /** `smtps://user:password@mail.example.com`, or `smtp://…`, which then needs STARTTLS. */
  readonly url: string
  readonly from: string
}

const TIMEOUT_MS = 20_000

export function createSmtp({ url, from }: SmtpSettings): MailTransport {
  const { protocol, hostname, port, username, password } = new URL(url)
  const isTls = protocol === 'smtps:'
  const isLocal = isLoopbackHost(hostname)
  const transporter = import('nodemailer').then(({ createTransport }) =>
    createTransport({
      pool: true,
      maxConnections: LIMITS.mailSendsMax,
      idleTimeout: TIMEOUT_MS / 2, // so that it ends with a word
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (isTls ? 465 : 587),
      secure: isTls,
      requireTLS: !isTls && !isLocal,
      ...(username !== '' && {
        auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
      }),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  )
  transporter.catch(() => {}) // whoever sends learns of it

  return {
    async send({ to, subject, text, at, unsubscribe }) {
      const headers = {
        'Auto-Submitted': 'auto-generated',
        ...(unsubscribe !== undefined && {
          'List-Unsubscribe': `<${unsubscribe}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }),
      }
      // as an object: an address in text could name a second one
      const recipient = { name: '', address: to }
      const opened = await transporter
      // a server that drips its answers would hold the connection for good
      const signal = AbortSignal.timeout(LIMITS.mailSendMsMax)
      const date = new Date(at)
      await opened.sendMail({ from, to: recipient, subject, text, date, headers, signal })
    },
    close: () => void transporter.then((opened) => opened.close()).catch(() => {}),
  }
}
