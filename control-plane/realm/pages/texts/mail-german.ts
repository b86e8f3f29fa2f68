/** Anmeldung per E-Mail. */
import type { mailEnglish } from './mail-english.ts'

export const mailGerman: typeof mailEnglish = {
  ask: 'Anmeldelink per E-Mail senden',
  addressNeeded:
    'Geben Sie Ihre E-Mail-Adresse oder Ihren Benutzernamen ein und fordern Sie dann die E-Mail an.',
  sent: {
    title: 'Sehen Sie in Ihre E-Mails',
    intro: (login) =>
      `Wenn es für ${login} ein Konto gibt, ist eine E-Mail mit einem Code und einem Link unterwegs.`,
    steps: [
      'Geben Sie den Code hier ein oder öffnen Sie den Link in diesem Browser. Beides gilt einmal und nur kurze Zeit.',
      'Nach einigen Minuten nichts da? Sehen Sie im Spam-Ordner nach oder melden Sie sich anders an.',
    ],
    code: 'Code aus der E-Mail',
    submit: 'Anmelden',
    again: 'Weitere E-Mail senden',
    otherWays: 'Andere Anmeldemöglichkeiten',
  },
  opened: {
    title: 'Anmelden',
    intro: (host, login) =>
      `Sie haben den Link aus unserer E-Mail geöffnet. Bei ${host} als ${login} anmelden?`,
    submit: 'Anmelden',
  },
  over: 'Dieser Code oder Link ist abgelaufen, verbraucht oder ersetzt. Lassen Sie sich eine weitere E-Mail senden und verwenden Sie die neueste.',
  codeNeeded: 'Geben Sie den Code aus der E-Mail ein.',
  waitSeconds: (seconds) =>
    seconds < 100
      ? `In ${seconds === 1 ? 'einer Sekunde' : `${seconds} Sekunden`} können Sie eine weitere E-Mail anfordern.`
      : `In ${Math.ceil(seconds / 60)} Minuten können Sie eine weitere E-Mail anfordern.`,
  enough:
    'Für diese Anmeldung gibt es keine weiteren E-Mails. Beginnen Sie neu, ausgehend von der Anwendung.',
}
