/** What the pages say, in German. */
import type { Texts } from './english.ts'
import { account } from './account/german.ts'
import { deviceGerman } from './device-german.ts'
import { connectionsGerman } from './connections-german.ts'
import { mailGerman } from './mail-german.ts'
import { signUpGerman } from './sign-up-german.ts'
import { stepsGerman } from './steps-german.ts'

export const german: Texts = {
  account,
  language: 'de',

  problem: (title) => `Fehler: ${title}`,
  secureAt: (host) => `Gesichert durch ${host}`,

  signIn: 'Anmelden',
  signInTo: (host) => `Anmelden bei ${host}`,
  confirmIdentity:
    'Bitte bestätigen Sie, dass Sie es sind: Für den nächsten Schritt müssen Sie sich erneut anmelden.',
  username: 'Benutzername oder E-Mail-Adresse',
  password: 'Passwort',
  showPassword: 'Passwort anzeigen',
  attempt: {
    address_unreadable: 'Aus diesem Netzwerk können Sie sich nicht anmelden.',
    network_denied: 'Aus diesem Netzwerk können Sie sich nicht anmelden.',
    network_not_allowed: 'Aus diesem Netzwerk können Sie sich nicht anmelden.',
    user_paused:
      'Zu viele fehlgeschlagene Versuche. Bitte warten Sie etwas und versuchen Sie es dann erneut.',
    address_blocked:
      'Zu viele fehlgeschlagene Versuche aus Ihrem Netzwerk. Bitte versuchen Sie es später erneut.',
    password_needed: 'Geben Sie Benutzername und Passwort ein.',
    credentials_wrong:
      'Benutzername oder Passwort ist falsch. Prüfen Sie beides und versuchen Sie es erneut.',
    connection_required:
      'Benutzername oder Passwort ist falsch, oder dieses Konto kann sich nicht mit einem Passwort anmelden.',
    email_code_wrong:
      'Dieser Code ist ungültig. Sehen Sie in der neuesten E-Mail nach und versuchen Sie es erneut.',
    account_disabled:
      'Benutzername oder Passwort ist falsch. Prüfen Sie beides und versuchen Sie es erneut.',
    password_expired: 'Ihr Passwort ist abgelaufen. Wählen Sie ein neues.',
    device_proof_needed:
      'Dieses Gerät wurde noch nicht geprüft. Prüfen Sie es und fahren Sie dann fort.',
    device_warning: 'Dieses Gerät braucht Ihre Aufmerksamkeit.',
    device_not_enrolled: 'Mit diesem Gerät können Sie sich nicht anmelden.',
    device_not_compliant: 'Dieses Gerät erfüllt die Anforderungen nicht.',
    second_factor_needed: 'Bestätigen Sie, dass Sie es sind.',
    code_wrong:
      'Dieser Code ist ungültig. Warten Sie auf den nächsten und prüfen Sie, ob die Uhr auf dem Gerät richtig geht.',
    enrolment_needed: 'Diese Anwendung verlangt einen zweiten Faktor. Richten Sie ihn jetzt ein.',
    too_many_sessions: 'Sie sind auf zu vielen Geräten angemeldet.',
    too_many_sign_ins: 'Zu viele Anmeldungen mit diesem Konto. Bitte warten Sie einige Minuten.',
  },
  otherAccount:
    'Die Anwendung erwartet ein anderes Konto als das, mit dem Sie sich angemeldet haben.',
  busy: 'Gerade melden sich sehr viele Menschen an. Bitte warten Sie einige Sekunden und versuchen Sie es erneut.',
  sessionEnded: {
    expired: 'Ihre Sitzung ist abgelaufen. Melden Sie sich erneut an.',
    moved: 'Ihr Browser oder Netzwerk hat gewechselt. Melden Sie sich erneut an.',
  },
  formTooLong: 'Ihre Eingabe ist zu lang für einen Benutzernamen oder ein Passwort.',

  backToApplication: 'Zurück zur Anwendung',
  startAgain: 'Neu beginnen',
  details: 'Details für den Support',
  waitMinutes: (minutes) =>
    minutes === 1
      ? 'Versuchen Sie es in einer Minute erneut.'
      : `Versuchen Sie es in ${minutes} Minuten erneut.`,
  messages: {
    unknown: {
      title: 'Keine Anwendung gefunden',
      intro: 'Diese Adresse gehört zu keiner Anwendung, die wir kennen.',
      steps: ['Prüfen Sie die Adresse oder beginnen Sie neu in der Anwendung, von der Sie kommen.'],
    },
    not_found: {
      title: 'Seite nicht gefunden',
      intro: 'Der Link ist möglicherweise veraltet oder enthält einen Tippfehler.',
      steps: ['Beginnen Sie neu in der Anwendung.'],
    },
    request_wrong: {
      title: 'Dieser Anmeldelink funktioniert nicht',
      intro: 'Die Anwendung hat eine ungültige Anmeldeanfrage geschickt.',
      steps: [
        'Gehen Sie zurück zur Anwendung und versuchen Sie es erneut.',
        'Wenn das Problem bleibt, wenden Sie sich mit den Details unten an den Betreiber der Anwendung.',
      ],
    },
    expired: {
      title: 'Diese Anmeldung ist abgelaufen',
      intro: 'Die Seite war zu lange geöffnet, oder diese Anmeldung ist bereits abgeschlossen.',
      steps: [
        'Gehen Sie zurück zur Anwendung und melden Sie sich erneut an. Es ist nichts verloren gegangen.',
      ],
    },
    cookie_missing: {
      title: 'Cookies sind blockiert',
      intro: 'Ihr Browser hat das Cookie nicht gesendet, das Ihre Anmeldung schützt.',
      steps: [
        'Erlauben Sie Cookies für diese Adresse, falls Ihr Browser oder eine Erweiterung sie blockiert.',
        'Prüfen Sie Datum und Uhrzeit Ihres Geräts: Geht die Uhr falsch, laufen Cookies zu früh ab.',
        'Bleiben Sie in dem Browser, in dem Sie begonnen haben: In einem anderen funktioniert der Link nicht.',
        'Beginnen Sie dann neu in der Anwendung.',
      ],
    },
    cross_site: {
      title: 'Dieses Formular wurde von einer anderen Website gesendet',
      intro: 'Zu Ihrer Sicherheit nehmen wir nur Formulare unserer eigenen Seiten an.',
      steps: ['Beginnen Sie neu in der Anwendung und geben Sie Ihr Passwort dort ein.'],
    },
    link_gone: {
      title: 'Dieser Link funktioniert nicht mehr',
      intro:
        'Links aus unseren E-Mails gelten einmal und für begrenzte Zeit. Dieser wurde schon benutzt oder ist abgelaufen.',
      steps: [
        'Wenn Sie mehrere E-Mails bekommen haben, nehmen Sie den Link aus der neuesten.',
        'Sonst fordern Sie einen neuen Link an und öffnen Sie ihn bald.',
      ],
    },
    email_other_browser: {
      title: 'Bitte den Browser verwenden, in dem Sie angefragt haben',
      intro:
        'Dieser Link gilt nur in dem Browser, in dem die E-Mail angefordert wurde. So kann sich niemand sonst damit anmelden.',
      steps: [
        'Wechseln Sie zu diesem Browser und geben Sie dort den Code aus der E-Mail ein.',
        'Oder beginnen Sie in diesem Browser neu, ausgehend von der Anwendung.',
        'Wenn Sie die E-Mail nicht angefordert haben, schließen Sie diese Seite und geben Sie den Code niemandem.',
      ],
    },
    too_many: {
      title: 'Zu viele Anfragen',
      intro: 'Aus Ihrem Netzwerk kommen gerade zu viele Anfragen.',
      steps: [
        'Warten Sie einige Sekunden und versuchen Sie es erneut. Es ist nichts verloren gegangen.',
      ],
    },
    too_often: {
      title: 'Zu viele Anmeldungen',
      intro: 'Mit diesem Konto gab es in kurzer Zeit zu viele Anmeldungen.',
      steps: [
        'Warten Sie einige Minuten und versuchen Sie es dann erneut. Bestehende Sitzungen laufen weiter.',
        'Wenn Sie das nicht waren, ändern Sie Ihr Passwort und informieren Sie den Betreiber der Anwendung.',
      ],
    },
    sign_up_full: {
      title: 'Zurzeit keine neuen Konten',
      intro: 'Hier wurden in kurzer Zeit zu viele Konten angefragt.',
      steps: [
        'Versuchen Sie es morgen noch einmal.',
        'Wenn es eilt, bitten Sie diejenigen, die die Anwendung betreiben, um eine Einladung.',
      ],
    },
    user_paused: {
      title: 'Konto vorübergehend gesperrt',
      intro: 'Für diesen Benutzernamen gab es zu viele fehlgeschlagene Anmeldeversuche.',
      steps: [
        'Warten Sie etwas und versuchen Sie es dann erneut. Ihr Passwort ist unverändert.',
        'Wenn Sie Ihr Passwort vergessen haben, hilft Ihnen der Betreiber der Anwendung.',
      ],
    },
    address_blocked: {
      title: 'Ihr Netzwerk ist vorübergehend gesperrt',
      intro:
        'Aus Ihrem Netzwerk gab es zu viele fehlgeschlagene Anmeldeversuche, möglicherweise von jemand anderem.',
      steps: [
        'Warten Sie etwas und versuchen Sie es erneut, oder benutzen Sie ein anderes Netzwerk.',
        'Der Betreiber der Anwendung kann die Sperre aufheben.',
      ],
    },
    network_denied: {
      title: 'Aus diesem Netzwerk können Sie sich nicht anmelden',
      intro:
        'Diese Anwendung erlaubt Anmeldungen nur aus bestimmten Netzwerken. Ihres gehört nicht dazu.',
      steps: [
        'Verbinden Sie sich mit dem Netzwerk Ihrer Organisation, zum Beispiel per VPN, und beginnen Sie neu.',
        'Wenn Sie bereits verbunden sind, wenden Sie sich mit den Details unten an den Betreiber der Anwendung.',
      ],
    },
    device_check_over: {
      title: 'Diese Geräteprüfung ist abgelaufen',
      intro:
        'Sie hat zu lange gedauert, wurde schon benutzt, oder die Anmeldung dazu ist abgeschlossen.',
      steps: [
        'Gehen Sie zurück zu dem Tab, in dem Sie sich anmelden, und prüfen Sie dieses Gerät erneut.',
      ],
    },
    device_other_browser: {
      title: 'Diese Geräteprüfung wurde in einem anderen Browser begonnen',
      intro:
        'Zum Schutz Ihres Kontos zählt eine Prüfung nur in dem Browser, in dem Sie sich anmelden.',
      steps: [
        'Wenn Sie einen anderen Browser oder ein anderes Profil geöffnet haben, gehen Sie dorthin zurück, wo Sie begonnen haben.',
        'Wenn Sie keine Anmeldung begonnen haben, versucht vielleicht jemand, Ihr Gerät zu benutzen. Schließen Sie diese Seite und informieren Sie den Betreiber der Anwendung.',
      ],
    },
    sessions_full: {
      title: 'Sie sind auf zu vielen Geräten angemeldet',
      intro:
        'Diese Anwendung begrenzt, auf wie vielen Geräten Sie gleichzeitig angemeldet sein können.',
      steps: [
        'Melden Sie sich auf einem Gerät ab, das Sie nicht mehr brauchen, und beginnen Sie hier neu.',
      ],
    },
    suspended: {
      title: 'Anmeldung ausgesetzt',
      intro: 'Diese Anwendung ist ausgesetzt. Im Moment kann sich niemand anmelden.',
      steps: ['Fragen Sie den Betreiber der Anwendung, wann sie wieder verfügbar ist.'],
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
        'Versuchen Sie es in einigen Minuten erneut.',
        'Wenn Sie auf einem anderen Gerät angemeldet sind, bleibt das so.',
      ],
    },
    account_unusable: {
      title: 'Ihr Konto ist noch nicht bereit',
      intro:
        'Ihr Passwort ist richtig, aber Ihr Eintrag im Benutzerverzeichnis ist unvollständig: E-Mail-Adresse oder Name fehlt oder wird schon von jemand anderem benutzt.',
      steps: [
        'Bitten Sie den Betreiber der Anwendung, das zu korrigieren. Ein neuer Versuch hilft nicht.',
      ],
    },
    connection_failed: {
      title: 'Die Anmeldung über Ihren Anbieter ist fehlgeschlagen',
      intro: 'Ihr Identitätsanbieter hat nicht bestätigt, wer Sie sind. Sie sind nicht angemeldet.',
      steps: [
        'Beginnen Sie noch einmal bei der Anwendung.',
        'Wenn es wieder geschieht, geben Sie dem Betreiber der Anwendung die Angaben unten.',
      ],
    },
    connection_no_account: {
      title: 'Sie haben hier kein Konto',
      intro: 'Sie haben sich bei Ihrem Anbieter angemeldet, aber kein Konto hier passt dazu.',
      steps: ['Bitten Sie den Betreiber der Anwendung um Zugang, mit den Angaben unten.'],
    },
    unavailable: {
      title: 'Bitte versuchen Sie es gleich noch einmal',
      intro: 'Wir können Ihre Anmeldung gerade nicht abschließen.',
      steps: ['Warten Sie einige Sekunden und beginnen Sie dann neu.'],
    },
    internal: {
      title: 'Bei uns ist etwas schiefgegangen',
      intro: 'Wir konnten Ihre Anmeldung nicht abschließen. Bitte versuchen Sie es erneut.',
      steps: ['Wenn das Problem bleibt, wenden Sie sich an den Betreiber der Anwendung.'],
    },
  },

  connections: connectionsGerman,
  mail: mailGerman,
  signUp: signUpGerman,
  steps: stepsGerman,
  device: deviceGerman,

  signOut: 'Abmelden',
  signOutAsk: (name) => `Bei ${name} abmelden?`,
  signOutIntro: 'Auf diesem Gerät müssen Sie sich dann neu anmelden.',
  staySignedIn: 'Angemeldet bleiben',
  signedOut: 'Sie sind abgemeldet',
  signedOutIntro: 'Ihre Sitzung ist beendet. Sie können diese Seite schließen.',
  signInAgain: 'Erneut anmelden',
}
