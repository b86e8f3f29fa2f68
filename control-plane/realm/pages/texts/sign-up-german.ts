/** Konten, die sich Personen selbst anlegen. */
import type { signUpEnglish } from './sign-up-english.ts'

export const signUpGerman: typeof signUpEnglish = {
  create: 'Konto erstellen',
  address: {
    title: 'Konto erstellen',
    intro: (name) =>
      `Für ${name}. Geben Sie Ihre E-Mail-Adresse ein; Sie erhalten einen Code, um sie zu bestätigen.`,
    email: 'E-Mail-Adresse',
    submit: 'Weiter',
    signIn: 'Mit einem bestehenden Konto anmelden',
    invalid: 'Geben Sie eine vollständige E-Mail-Adresse ein, etwa name@example.com.',
    refused:
      'Mit dieser E-Mail-Adresse lässt sich kein Konto erstellen. Verwenden Sie die Adresse Ihrer Organisation.',
  },
  sent: {
    title: 'Sehen Sie in Ihre E-Mails',
    intro: (email) => `Eine E-Mail an ${email} ist unterwegs.`,
    steps: [
      'Geben Sie den Code daraus hier ein oder öffnen Sie den Link in diesem Browser. Beides gilt einmal und nur kurze Zeit.',
      'Steht darin, dass Sie schon ein Konto haben, melden Sie sich damit an.',
      'Nach einigen Minuten nichts da? Sehen Sie im Spam-Ordner nach und prüfen Sie die Adresse.',
    ],
    code: 'Code aus der E-Mail',
    submit: 'Bestätigen',
    again: 'Weitere E-Mail senden',
    otherWays: 'Mit einem bestehenden Konto anmelden',
  },
  opened: {
    title: 'Konto erstellen',
    intro: (host, email) =>
      `Sie haben den Link aus unserer E-Mail geöffnet. ${email} für Ihr neues Konto bei ${host} bestätigen?`,
    submit: 'Bestätigen',
  },
  details: {
    title: 'Konto erstellen',
    intro: (email) => `${email} ist bestätigt. Geben Sie Ihren Namen ein.`,
    introPassword: (email) =>
      `${email} ist bestätigt. Geben Sie Ihren Namen ein und wählen Sie ein Passwort.`,
    name: 'Ihr Name',
    nameInvalid: 'Geben Sie Ihren Namen ein, mit höchstens 200 Zeichen.',
    submit: 'Konto erstellen',
    submitRequest: 'Konto anfragen',
  },
  waiting: {
    title: 'Wartet auf Freigabe',
    intro: (email) => `Ihre Anfrage für ein Konto mit ${email} ist angekommen.`,
    steps: [
      'Darüber entscheidet eine Person aus der Verwaltung. Danach erhalten Sie eine E-Mail.',
      'Sie können diese Seite schließen. Vorher können Sie sich nicht anmelden.',
    ],
  },
  taken: 'Mit dieser E-Mail-Adresse haben Sie schon ein Konto. Melden Sie sich damit an.',
}
