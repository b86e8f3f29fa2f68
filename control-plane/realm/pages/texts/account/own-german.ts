/** The pages about one's own account, in German. */
import type { own as english } from './own-english.ts'

export const own: typeof english = {
  title: 'Ihr Konto',
  intro: (username) => `Sie sind als ${username} angemeldet.`,
  profile: 'Profil',
  name: 'Vor- und Nachname',
  username: 'Benutzername',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  passwordFrom: 'Zuletzt geändert',
  change: 'Ändern',
  elsewhere:
    'Ihre Organisation verwaltet Ihren Namen, Ihre E-Mail-Adresse und Ihr Passwort. Wenden Sie sich für Änderungen an Ihre Administration.',

  factors: 'Zweite Faktoren',
  factorsNone:
    'Noch keine. Mit einem zweiten Faktor reicht ein gestohlenes Passwort allein nicht zur Anmeldung.',
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
  newCodes: 'Neue Codes erstellen',

  sessions: 'Aktive Sitzungen',
  unknownBrowser: 'Unbekannter Browser',
  thisOne: 'dieses Gerät',
  added: 'Hinzugefügt',
  since: 'Angemeldet',
  lastSeen: 'Zuletzt verwendet',
  end: 'Abmelden',
  endOthers: 'Alle anderen abmelden',
  devices: 'Bekannte Browser',
  devicesIntro: 'Bei einer Anmeldung mit einem neuen Browser senden wir Ihnen eine E-Mail.',
  devicesNone: 'Noch keine bekannten Browser.',
  lastSignIn: 'Letzte Anmeldung',
  forget: 'Vergessen',
  machines: 'Geräte mit unserem Agenten',
  machinesIntro: 'Das meldet der Agent über diese Geräte:',
  lastReport: 'Letzte Meldung',
  allGood: 'Keine Probleme gemeldet.',

  done: {
    session: 'Sitzung beendet. Das Gerät ist abgemeldet.',
    others: 'Alle anderen Sitzungen sind beendet.',
    machine: 'Gerät entfernt. Seine Sitzungen sind beendet.',
    device: 'Browser vergessen. Bei der nächsten Anmeldung gilt er als neu.',
    name: 'Name gespeichert.',
    factor: 'Zweiter Faktor entfernt.',
    app: 'Authenticator-App hinzugefügt.',
    passkey: 'Passkey hinzugefügt.',
  },
  problems: {
    session_gone: 'Diese Sitzung ist bereits beendet.',
    machine_gone: 'Dieses Gerät wurde schon entfernt.',
    device_gone: 'Dieser Browser wurde bereits vergessen.',
    factor_gone: 'Dieser zweite Faktor wurde bereits entfernt.',
    factor_needed:
      'Diese Anwendung verlangt einen zweiten Faktor, und das ist Ihr letzter. Fügen Sie zuerst einen anderen hinzu.',
    factors_full:
      'Sie haben die höchste Zahl zweiter Faktoren erreicht. Entfernen Sie zuerst einen.',
    old_page:
      'Diese Seite war zu lange geöffnet. Prüfen Sie Ihr Konto und versuchen Sie es erneut.',
    name_invalid: 'Geben Sie einen Namen mit höchstens 200 Zeichen ein.',
    email_invalid: 'Geben Sie eine gültige E-Mail-Adresse ein.',
    mails_full: 'Wir haben zu viele E-Mails gesendet. Versuchen Sie es in einer Stunde erneut.',
    password_wrong: 'Ihr aktuelles Passwort ist nicht richtig.',
    passkey_refused: 'Dieser Passkey konnte nicht hinzugefügt werden. Versuchen Sie es erneut.',
    code_new: 'Dieser Code ist ungültig. Geben Sie den Code ein, den die App jetzt anzeigt.',
  },

  changeName: { title: 'Namen ändern', submit: 'Namen speichern' },
  changeEmail: {
    title: 'E\u2011Mail\u2011Adresse ändern',
    intro: (email) =>
      `Ihre aktuelle Adresse ist ${email}. An die neue senden wir einen Bestätigungslink.`,
    label: 'Neue E-Mail-Adresse',
    submit: 'Bestätigungslink senden',
  },
  emailAsked: {
    title: 'Prüfen Sie Ihre E-Mails',
    intro: (email) =>
      `Wenn ${email} verwendet werden kann, haben wir einen Bestätigungslink dorthin gesendet.`,
    step: 'Bis Sie den Link öffnen, ändert sich nichts. Er gilt einmal und läuft in einem Tag ab.',
  },
  changePassword: {
    title: 'Passwort ändern',
    intro: 'Sie werden überall abgemeldet, auch auf diesem Gerät.',
    current: 'Aktuelles Passwort',
  },
  confirm: {
    title: 'Bestätigen Sie, dass Sie es sind',
    intro:
      'Melden Sie sich zum Schutz Ihres Kontos noch einmal an. Danach geht es an derselben Stelle weiter.',
    code: 'Code aus Ihrer App oder Wiederherstellungscode',
    recoveryCode: 'Einer Ihrer Wiederherstellungscodes',
    submit: 'Weiter',
    withPasskey: 'Weiter mit Ihrem Passkey',
    needsScript:
      'Passkeys brauchen JavaScript. Verwenden Sie stattdessen einen Wiederherstellungscode.',
    failed:
      'Das hat nicht geklappt. Versuchen Sie es erneut oder verwenden Sie einen Wiederherstellungscode.',
  },
  addAppTitle: 'Authenticator-App einrichten',
  addPasskeyTitle: 'Passkey einrichten',
  notSignedIn: {
    title: 'Melden Sie sich an, um Ihr Konto zu sehen',
    intro: 'Sie sind auf diesem Gerät nicht angemeldet, oder Ihre Sitzung ist abgelaufen.',
    go: 'Zur Anwendung',
  },
  signInForEmail: {
    title: 'Melden Sie sich an, um diese Adresse zu bestätigen',
    intro:
      'Melden Sie sich auf diesem Gerät mit dem Konto an, für das sie angefordert wurde, und öffnen Sie dann den Link in der E-Mail noch einmal. Haben Sie nichts angefordert, müssen Sie nichts tun.',
    go: 'Zur Anwendung',
  },
  signInAgain: {
    title: 'Bestätigen Sie, dass Sie es sind',
    intro:
      'Melden Sie sich für diese Änderung noch einmal bei Ihrem Anbieter an, und kommen Sie dann zu Ihrem Konto zurück.',
    go: 'Noch einmal anmelden',
  },
  or: 'Oder',
  back: 'Zurück zu Ihrem Konto',
}
