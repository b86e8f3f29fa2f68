import type { account as english } from './english.ts'
import { own } from './own-german.ts'

export const account: typeof english = {
  own,
  forgotten: {
    title: 'Passwort vergessen?',
    intro: 'Wir senden Ihnen per E-Mail einen Link, mit dem Sie ein neues Passwort wählen können.',
    send: 'Link senden',
  },
  mailSent: {
    title: 'Prüfen Sie Ihre E-Mails',
    intro: 'Wenn es dieses Konto gibt, haben wir einen Link an seine E-Mail-Adresse gesendet.',
    steps: [
      'Der Link gilt einmal und läuft in einer Stunde ab.',
      'Keine E-Mail? Prüfen Sie Ihren Spam-Ordner und Ihre Eingabe.',
    ],
  },
  reset: {
    title: 'Neues Passwort wählen',
    intro: 'Sie werden überall abgemeldet. Melden Sie sich dann mit dem neuen Passwort an.',
  },
  invite: {
    title: 'Passwort wählen',
    intro: 'Sie brauchen es bei jeder Anmeldung.',
  },
  newPassword: 'Neues Passwort',
  repeatPassword: 'Passwort wiederholen',
  passwordHint: (characters) =>
    `Mindestens ${characters} Zeichen. Gut sind mehrere Wörter, die Sie sich merken können.`,
  passwordsDiffer: 'Die Passwörter stimmen nicht überein. Geben Sie beide noch einmal ein.',
  savePassword: 'Passwort speichern',
  passwordSaved: {
    invite: { title: 'Passwort gespeichert', intro: 'Sie können sich jetzt damit anmelden.' },
    reset: {
      title: 'Passwort geändert',
      intro: 'Melden Sie sich mit dem neuen Passwort an. Alle anderen Sitzungen sind beendet.',
    },
  },
  confirmEmail: {
    title: 'E\u2011Mail\u2011Adresse bestätigen',
    intro: (email) => `Ihr Konto verwendet künftig ${email}.`,
    submit: 'Bestätigen',
  },
  emailChanged: {
    title: 'E\u2011Mail\u2011Adresse geändert',
    intro: (email) => `Ihr Konto verwendet jetzt ${email}.`,
  },
}
