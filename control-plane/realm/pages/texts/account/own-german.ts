/** The pages about one's own account, in German. */
import type { own as english } from './own-english.ts'

export const own: typeof english = {
  title: 'Ihr Konto',
  intro: (username) => `Sie sind als ${username} angemeldet.`,
  profile: 'Über Sie',
  name: 'Ihr Name',
  username: 'Benutzername',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  passwordFrom: 'Gewählt am',
  change: 'Ändern',
  elsewhere:
    'Ihren Namen, Ihre Adresse und Ihr Passwort verwaltet Ihre Organisation. Wenden Sie sich für Änderungen an deren Verwaltung.',

  factors: 'Zweite Faktoren',
  factorsNone: 'Sie haben noch keinen. Mit einem nützt ein gestohlenes Passwort allein nichts.',
  factorKinds: {
    totp: 'Authenticator-App',
    passkey: 'Passkey auf einem Gerät',
    recovery: 'Wiederherstellungscodes',
  },
  factorUnused: 'Noch nicht verwendet',
  codesLeft: (count) => (count === 1 ? '1 übrig' : `${count} übrig`),
  remove: 'Entfernen',
  addApp: 'Authenticator-App hinzufügen',
  addPasskey: 'Passkey hinzufügen',
  newCodes: 'Neue Codes',

  sessions: 'Wo Sie angemeldet sind',
  unknownBrowser: 'Unbekannter Browser',
  thisOne: 'diese hier',
  since: 'Seit',
  lastSeen: 'Zuletzt verwendet',
  end: 'Beenden',
  endOthers: 'Alle anderen beenden',
  devices: 'Browser, die Sie benutzt haben',
  devicesIntro: 'Meldet sich einer an, der nicht dabei ist, schreiben wir Ihnen eine E-Mail.',
  devicesNone: 'Wir kennen noch keinen.',
  lastSignIn: 'Letzte Anmeldung',
  forget: 'Vergessen',

  done: {
    session: 'Die Sitzung ist beendet. Wer sie benutzt hat, ist abgemeldet.',
    others: 'Alle anderen Sitzungen sind beendet.',
    device: 'Der Browser ist vergessen. Meldet er sich wieder an, gilt er als neu.',
    name: 'Ihr Name ist gespeichert.',
    factor: 'Der zweite Faktor ist entfernt.',
    app: 'Die Authenticator-App ist eingerichtet.',
    passkey: 'Der Passkey ist eingerichtet.',
  },
  problems: {
    session_gone: 'Diese Sitzung gibt es nicht mehr.',
    device_gone: 'Diesen Browser kennen wir nicht mehr.',
    factor_gone: 'Diesen zweiten Faktor gibt es nicht mehr.',
    factor_needed:
      'Diese Anwendung verlangt einen zweiten Faktor, und das ist Ihr letzter. Fügen Sie zuerst einen anderen hinzu.',
    factors_full: 'Mehr zweite Faktoren kann man nicht haben. Entfernen Sie zuerst einen.',
    old_page:
      'Diese Seite war zu lange offen. Sehen Sie nach, was es jetzt gibt, und versuchen Sie es noch einmal.',
    name_invalid: 'Geben Sie einen Namen mit höchstens 200 Zeichen ein.',
    email_invalid: 'Geben Sie eine E-Mail-Adresse ein.',
    mails_full:
      'Wir haben Ihnen für den Moment genug E-Mails geschickt. Versuchen Sie es in einer Stunde wieder.',
    password_wrong: 'Das ist nicht Ihr jetziges Passwort.',
    passkey_refused: 'Dieser Passkey ließ sich nicht einrichten. Versuchen Sie es noch einmal.',
    code_new: 'Dieser Code stimmt nicht. Geben Sie den ein, den die App jetzt zeigt.',
  },

  changeName: { title: 'Ihren Namen ändern', submit: 'Namen speichern' },
  changeEmail: {
    title: 'Ihre E-Mail-Adresse ändern',
    intro: (email) => `Jetzt ist es ${email}. An die neue schicken wir einen Link.`,
    label: 'Neue E-Mail-Adresse',
    submit: 'Bestätigung schicken',
  },
  emailAsked: {
    title: 'Bestätigen Sie es in Ihren E-Mails',
    intro: (email) => `Wenn ${email} verwendet werden kann, ist ein Link dorthin unterwegs.`,
    step: 'Bevor Sie ihn öffnen, ändert sich nichts. Er gilt einmal und einen Tag lang.',
  },
  changePassword: {
    title: 'Ihr Passwort ändern',
    intro: 'Sie werden überall abgemeldet, auch hier.',
    current: 'Jetziges Passwort',
  },
  confirm: {
    title: 'Sind Sie es?',
    intro: 'Das schützt Ihr Konto, darum fragen wir noch einmal. Danach geht es von selbst weiter.',
    code: 'Code aus Ihrer App oder Wiederherstellungscode',
    recoveryCode: 'Einer Ihrer Wiederherstellungscodes',
    submit: 'Weiter',
    withPasskey: 'Weiter mit Ihrem Passkey',
    needsScript: 'Passkeys brauchen JavaScript. Nehmen Sie hier einen Wiederherstellungscode.',
    failed:
      'Das hat nicht geklappt. Versuchen Sie es noch einmal oder nehmen Sie einen Wiederherstellungscode.',
  },
  addAppTitle: 'Authenticator-App einrichten',
  addPasskeyTitle: 'Passkey einrichten',
  notSignedIn: {
    title: 'Melden Sie sich an, um Ihr Konto zu sehen',
    intro: 'Sie sind hier nicht angemeldet, oder Ihre Sitzung ist beendet.',
    go: 'Bei der Anwendung anmelden',
  },
  or: 'Oder',
  back: 'Zurück zu Ihrem Konto',
}
