/** What the pages say, in German. */
import type { Texts } from './english.ts'
import { account } from './account/german.ts'
import { stepsGerman } from './steps-german.ts'

export const german: Texts = {
  account,
  language: 'de',

  problem: (title) => `Fehler: ${title}`,
  secureAt: (host) => `Anmeldung durch ${host}`,

  signIn: 'Anmelden',
  signInTo: (host) => `Anmelden bei ${host}`,
  username: 'Benutzername oder E-Mail-Adresse',
  password: 'Passwort',
  attempt: {
    address_unreadable: 'Aus diesem Netzwerk können Sie sich nicht anmelden.',
    network_denied: 'Aus diesem Netzwerk können Sie sich nicht anmelden.',
    network_not_allowed: 'Aus diesem Netzwerk können Sie sich nicht anmelden.',
    user_paused:
      'Es gab zu viele falsche Passwörter. Warten Sie eine Weile und versuchen Sie es noch einmal.',
    address_blocked:
      'Aus Ihrem Netzwerk kamen zu viele falsche Passwörter. Versuchen Sie es später noch einmal.',
    password_needed: 'Geben Sie Ihren Benutzernamen und Ihr Passwort ein.',
    credentials_wrong:
      'Benutzername und Passwort passen nicht zusammen. Prüfen Sie beides und versuchen Sie es noch einmal.',
    account_disabled:
      'Benutzername und Passwort passen nicht zusammen. Prüfen Sie beides und versuchen Sie es noch einmal.',
    password_expired: 'Ihr Passwort ist zu alt. Wählen Sie ein neues.',
    device_not_enrolled: 'Mit diesem Gerät können Sie sich nicht anmelden.',
    second_factor_needed: 'Bestätigen Sie, dass Sie es sind.',
    code_wrong:
      'Dieser Code stimmt nicht. Warten Sie auf einen neuen und prüfen Sie, ob die Uhr des Geräts richtig geht, das ihn anzeigt.',
    enrolment_needed:
      'Diese Anwendung verlangt einen zweiten Nachweis, dass Sie es sind. Richten Sie ihn jetzt ein.',
    too_many_sessions: 'Sie sind auf zu vielen Geräten angemeldet.',
    too_many_sign_ins: 'Mit diesem Konto hat sich jemand zu oft angemeldet. Warten Sie ein wenig.',
  },
  otherAccount:
    'Die Anwendung verlangt ein anderes Konto als das, mit dem Sie sich angemeldet haben.',
  busy: 'Im Moment melden sich sehr viele Menschen an. Warten Sie einige Sekunden und versuchen Sie es noch einmal.',
  formTooLong: 'Ihre Eingabe ist länger, als ein Benutzername oder Passwort sein kann.',

  backToApplication: 'Zurück zur Anwendung',
  startAgain: 'Neu beginnen',
  details: 'Angaben für den Support',
  waitMinutes: (minutes) =>
    minutes === 1
      ? 'In einer Minute können Sie es wieder versuchen.'
      : `In ${minutes} Minuten können Sie es wieder versuchen.`,
  messages: {
    unknown: {
      title: 'Hier gibt es keine Anmeldung',
      intro: 'Diese Adresse gehört zu keiner Anwendung, die wir kennen.',
      steps: [
        'Prüfen Sie die Adresse, oder beginnen Sie neu in der Anwendung, die Sie hierher geschickt hat.',
      ],
    },
    not_found: {
      title: 'Unter dieser Adresse gibt es nichts',
      intro: 'Der Link ist vielleicht veraltet oder enthält einen Tippfehler.',
      steps: ['Beginnen Sie neu in der Anwendung.'],
    },
    request_wrong: {
      title: 'Dieser Link zur Anmeldung funktioniert nicht',
      intro: 'Die Anwendung hat eine Anfrage geschickt, die wir nicht annehmen können.',
      steps: [
        'Gehen Sie zurück zur Anwendung und versuchen Sie es noch einmal.',
        'Wenn es wieder geschieht, wenden Sie sich mit den Angaben unten an den Betreiber der Anwendung.',
      ],
    },
    expired: {
      title: 'Diese Anmeldung ist beendet',
      intro:
        'Die Seite war zu lange offen, oder sie gehört zu einer Anmeldung, die schon abgeschlossen ist.',
      steps: [
        'Gehen Sie zurück zur Anwendung und beginnen Sie neu. Es ist nichts verloren gegangen.',
      ],
    },
    cookie_missing: {
      title: 'Ihr Browser hat unser Cookie nicht gesendet',
      intro:
        'Während der Anmeldung brauchen wir ein kleines Cookie, damit niemand sonst sie abschließen kann.',
      steps: [
        'Erlauben Sie Cookies für diese Adresse, falls Ihr Browser oder eine Erweiterung sie blockiert.',
        'Prüfen Sie Datum und Uhrzeit Ihres Geräts: Geht die Uhr falsch, enden Cookies zu früh.',
        'Bleiben Sie in dem Browser, in dem Sie begonnen haben: Ein kopierter Link funktioniert in keinem anderen.',
        'Beginnen Sie dann neu in der Anwendung.',
      ],
    },
    cross_site: {
      title: 'Dieses Formular kam von einer anderen Website',
      intro: 'Zu Ihrer Sicherheit nehmen wir Eingaben nur von unserer eigenen Seite an.',
      steps: ['Beginnen Sie neu in der Anwendung und geben Sie Ihr Passwort dort ein.'],
    },
    link_gone: {
      title: 'Dieser Link funktioniert nicht mehr',
      intro:
        'Ein Link aus einer E-Mail gilt einmal und nur für eine gewisse Zeit. Dieser ist verbraucht oder zu alt.',
      steps: [
        'Wenn Sie mehrere E-Mails bekommen haben, nehmen Sie den Link aus der neuesten.',
        'Fordern Sie sonst einen neuen Link an und öffnen Sie ihn bald.',
      ],
    },
    too_many: {
      title: 'Zu viele Anmeldungen aus Ihrem Netzwerk',
      intro: 'Aus Ihrem Netzwerk kommen so viele Anfragen, dass wir sie bremsen müssen.',
      steps: [
        'Warten Sie einige Sekunden und versuchen Sie es noch einmal. Es ist nichts verloren gegangen.',
      ],
    },
    too_often: {
      title: 'Sie haben sich sehr oft angemeldet',
      intro: 'Mit diesem Konto hat sich in kurzer Zeit immer wieder jemand angemeldet.',
      steps: [
        'Warten Sie ein wenig und beginnen Sie dann neu. Wo Sie angemeldet sind, bleiben Sie es.',
        'Wenn Sie das nicht waren, ändern Sie Ihr Passwort und sagen Sie es dem Betreiber der Anwendung.',
      ],
    },
    user_paused: {
      title: 'Die Anmeldung ist für eine Weile gesperrt',
      intro:
        'Für diesen Benutzernamen gab es zu viele falsche Passwörter, vielleicht von jemand anderem.',
      steps: [
        'Warten Sie eine Weile und beginnen Sie dann neu. Ihr Passwort ist noch dasselbe.',
        'Wenn Sie es nicht mehr wissen, hilft der Betreiber der Anwendung.',
      ],
    },
    address_blocked: {
      title: 'Anmeldungen aus Ihrem Netzwerk sind vorerst gesperrt',
      intro: 'Von dort kamen zu viele falsche Passwörter, vielleicht von jemand anderem.',
      steps: [
        'Warten Sie eine Weile und versuchen Sie es noch einmal, oder benutzen Sie ein anderes Netzwerk.',
        'Der Betreiber der Anwendung kann die Sperre aufheben.',
      ],
    },
    network_denied: {
      title: 'Aus diesem Netzwerk können Sie sich nicht anmelden',
      intro:
        'Diese Anwendung erlaubt Anmeldungen nur aus bestimmten Netzwerken. Ihres gehört nicht dazu.',
      steps: [
        'Verbinden Sie sich mit dem Netzwerk Ihrer Organisation, zum Beispiel über das VPN, und beginnen Sie neu.',
        'Wenn Sie schon dort sind, wenden Sie sich mit den Angaben unten an den Betreiber der Anwendung.',
      ],
    },
    device_refused: {
      title: 'Mit diesem Gerät können Sie sich nicht anmelden',
      intro: 'Diese Anwendung erlaubt nur Geräte, die sie kennt.',
      steps: [
        'Beginnen Sie neu auf einem Gerät, mit dem Sie sich hier schon angemeldet haben.',
        'Fragen Sie den Betreiber der Anwendung, wie Sie dieses Gerät hinzufügen.',
      ],
    },
    sessions_full: {
      title: 'Sie sind auf zu vielen Geräten angemeldet',
      intro:
        'Diese Anwendung begrenzt, auf wie vielen Geräten Sie zugleich angemeldet sein können.',
      steps: [
        'Melden Sie sich auf einem Gerät ab, das Sie nicht brauchen, und beginnen Sie hier neu.',
      ],
    },
    suspended: {
      title: 'Die Anmeldung ist ausgesetzt',
      intro: 'Diese Anwendung ist gesperrt. Im Moment kann sich niemand bei ihr anmelden.',
      steps: ['Fragen Sie den Betreiber der Anwendung, wann sie wieder da ist.'],
    },
    licence_blocked: {
      title: 'Neue Anmeldungen sind ausgesetzt',
      intro: 'Die Lizenz dieser Anwendung erlaubt im Moment keine neuen Anmeldungen.',
      steps: [
        'Wenn Sie auf einem anderen Gerät angemeldet sind, bleibt das so.',
        'Bitten Sie den Betreiber der Anwendung um Hilfe.',
      ],
    },
    directory_down: {
      title: 'Wir können gerade keine Passwörter prüfen',
      intro:
        'Das Benutzerverzeichnis dieser Anwendung antwortet nicht. An Ihrem Passwort liegt es nicht.',
      steps: [
        'Versuchen Sie es in einigen Minuten noch einmal.',
        'Wenn Sie auf einem anderen Gerät angemeldet sind, bleibt das so.',
      ],
    },
    account_unusable: {
      title: 'Ihr Konto lässt sich hier noch nicht benutzen',
      intro:
        'Ihr Passwort stimmt, aber die Angaben im Benutzerverzeichnis passen nicht: Eine E-Mail-Adresse oder ein Name fehlt oder gehört schon jemand anderem.',
      steps: [
        'Bitten Sie den Betreiber der Anwendung, das zu berichtigen. Ein neuer Versuch hilft nicht.',
      ],
    },
    unavailable: {
      title: 'Bitte versuchen Sie es gleich noch einmal',
      intro: 'Wir können Ihre Anmeldung gerade nicht abschließen.',
      steps: ['Warten Sie einige Sekunden und beginnen Sie dann neu.'],
    },
    internal: {
      title: 'Bei uns ist etwas schiefgegangen',
      intro:
        'Ihre Anmeldung konnte nicht abgeschlossen werden. Versuchen Sie es einfach noch einmal.',
      steps: ['Wenn es wieder geschieht, wenden Sie sich an den Betreiber der Anwendung.'],
    },
  },

  steps: stepsGerman,

  signOut: 'Abmelden',
  signOutAsk: (name) => `Bei ${name} abmelden?`,
  signOutIntro: 'Auf diesem Gerät müssen Sie sich dann neu anmelden.',
  staySignedIn: 'Angemeldet bleiben',
  signedOut: 'Sie sind abgemeldet',
  signedOutIntro: 'Ihre Sitzung ist überall beendet. Sie können diese Seite schließen.',
  signInAgain: 'Neu anmelden',
}
