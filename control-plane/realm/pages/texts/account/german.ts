import type { account as english } from './english.ts'
import { own } from './own-german.ts'

export const account: typeof english = {
  own,
  forgotten: {
    title: 'Passwort vergessen?',
    intro: 'Wir schicken Ihnen einen Link, mit dem Sie ein neues wählen können.',
    send: 'Link schicken',
  },
  mailSent: {
    title: 'Sehen Sie in Ihre E-Mails',
    intro: 'Gibt es ein Konto mit diesem Namen, ist ein Link an seine E-Mail-Adresse unterwegs.',
    steps: [
      'Er gilt einmal und eine Stunde lang.',
      'Nichts da? Sehen Sie im Ordner für Unerwünschtes nach und prüfen Sie Ihre Eingabe.',
    ],
  },
  reset: {
    title: 'Neues Passwort wählen',
    intro: 'Sie werden überall abgemeldet und melden sich mit dem neuen wieder an.',
  },
  invite: {
    title: 'Passwort wählen',
    intro: 'Damit melden Sie sich von jetzt an an.',
  },
  newPassword: 'Neues Passwort',
  repeatPassword: 'Noch einmal',
  passwordHint: (characters) =>
    `Mindestens ${characters} Zeichen. Lang und leicht zu merken ist gut.`,
  passwordsDiffer: 'Die beiden Passwörter sind nicht gleich. Geben Sie beide noch einmal ein.',
  savePassword: 'Passwort speichern',
  passwordChanged: {
    title: 'Ihr Passwort ist gespeichert',
    intro: 'Melden Sie sich jetzt damit an. Alle anderen Sitzungen sind beendet.',
  },
  confirmEmail: {
    title: 'E-Mail-Adresse bestätigen',
    intro: (email) => `Von jetzt an gehört Ihr Konto zu ${email}.`,
    submit: 'Bestätigen',
  },
  emailChanged: {
    title: 'Ihre E-Mail-Adresse ist geändert',
    intro: (email) => `Ihr Konto gehört jetzt zu ${email}.`,
  },
}
