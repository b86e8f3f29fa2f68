/** What the service says on a tenant's own hostname, in German. */
import type { AllowClause } from '../../fleet/access-rules.ts'
import type { Texts } from './english.ts'

export const german: Texts = {
  reasons: {
    no_session: 'Sie sind nicht angemeldet.',
    session_repeated: 'Ihr Browser hat mehr als ein Sitzungs-Cookie gesendet.',
    token_malformed: 'Ihre Sitzung konnte nicht gelesen werden.',
    token_too_long: 'Ihre Sitzung konnte nicht gelesen werden.',
    algorithm_refused: 'Ihre Sitzung konnte nicht geprüft werden.',
    header_refused: 'Ihre Sitzung konnte nicht geprüft werden.',
    key_unknown: 'Ihre Sitzung wurde mit einem Schlüssel signiert, der nicht mehr gilt.',
    signature_wrong: 'Ihre Sitzung konnte nicht geprüft werden.',
    claims_malformed: 'Ihre Sitzung konnte nicht geprüft werden.',
    issuer_wrong: 'Ihre Sitzung gehört zu einer anderen Anwendung.',
    audience_wrong: 'Ihre Sitzung gehört zu einer anderen Anwendung.',
    issued_ahead: 'Ihre Sitzung liegt in der Zukunft: Bei uns geht eine Uhr falsch.',
    not_yet_valid: 'Ihre Sitzung liegt in der Zukunft: Bei uns geht eine Uhr falsch.',
    expired: 'Ihre Sitzung ist abgelaufen.',
    session_too_old: 'Ihre Sitzung hat ihre Höchstdauer erreicht.',
    revoked: 'Ihre Sitzung wurde beendet.',
    seen_missing: 'Ihre Sitzung konnte nicht fortgesetzt werden.',
    idle: 'Ihre Sitzung ist abgelaufen, weil sie nicht benutzt wurde.',
    binding_step_up: 'Ihr Browser oder Netzwerk hat gewechselt. Bitte melden Sie sich erneut an.',
    binding_terminate: 'Ihre Sitzung wurde beendet, weil Ihr Browser oder Netzwerk gewechselt hat.',
    strength_missing: 'Für diese Seite melden Sie sich bitte neu an, mit Ihrem zweiten Faktor.',
    groups_outdated: 'Ihre Mitgliedschaften haben sich geändert. Bitte melden Sie sich erneut an.',
  },
  refusals: {
    host_unknown: {
      title: 'Keine Anwendung gefunden',
      text: 'Unter dieser Adresse gibt es keine Anwendung. Prüfen Sie die Schreibweise.',
    },
    sealed: {
      title: 'Seite nicht gefunden',
      text: 'Unter dieser Adresse wurde nichts gefunden.',
    },
    path_unreadable: {
      title: 'Ungültige Adresse',
      text: 'Diese Adresse enthält ungültige Zeichen. Prüfen Sie sie, oder beginnen Sie auf der Startseite.',
    },
    origin_foreign: {
      title: 'Anfrage von einer anderen Website',
      text: 'Eine Seite einer anderen Website wollte in Ihrem Namen eine Verbindung öffnen. Das wurde verhindert.',
    },
    rule_denied: {
      title: 'Kein Zugriff',
      text: 'Sie sind angemeldet, haben aber keinen Zugriff auf diese Seite. Fragen Sie Ihre Administratoren danach.',
    },
    websockets_exhausted: {
      title: 'Zu viele Verbindungen',
      text: 'Es sind zu viele Verbindungen offen. Schließen Sie einige, oder versuchen Sie es gleich noch einmal.',
    },
    suspended: {
      title: 'Vorübergehend ausgesetzt',
      text: 'Diese Anwendung ist zurzeit ausgesetzt. Wenden Sie sich an ihren Betreiber.',
    },
    not_ready: {
      title: 'Der Dienst startet',
      text: 'Der Dienst startet gerade. Versuchen Sie es in einigen Sekunden erneut.',
    },
    state_lost: {
      title: 'Vorübergehend nicht verfügbar',
      text: 'Diese Anwendung ist gerade nicht sicher erreichbar. Versuchen Sie es gleich noch einmal.',
    },
    client_unreadable: {
      title: 'Vorübergehend nicht verfügbar',
      text: 'Die Anwendung sieht nicht, woher Anfragen kommen, darum kann sich niemand anmelden. Ihr Betreiber muss vertrauenswürdige Proxys eintragen.',
    },
    machine_malformed: {
      title: 'Keine Zugangsdaten einer Maschine',
      text: 'Senden Sie Service-Client-Id (svc_…) und Service-Client-Secret (sms_…), jedes genau einmal.',
    },
    machine_with_session: {
      title: 'Zwei Identitäten',
      text: 'Diese Anfrage trägt Zugangsdaten einer Maschine und die Sitzung eines Menschen. Senden Sie nur eines davon.',
    },
    machine_unknown: {
      title: 'Unbekannte Zugangsdaten',
      text: 'Es gibt keine Maschine mit dieser Kennung und diesem Geheimnis. Prüfen Sie beides.',
    },
    machine_secret_ended: {
      title: 'Geheimnis abgelaufen',
      text: 'Dieses Geheimnis ist abgelaufen. Erstellen Sie in der Konsole ein neues.',
    },
    machine_disabled: {
      title: 'Maschine deaktiviert',
      text: 'Diese Maschine ist deaktiviert. Administratoren können sie in der Konsole wieder aktivieren.',
    },
    machine_not_allowed: {
      title: 'Kein Zugriff',
      text: 'Die Zugangsdaten stimmen, aber keine Regel lässt diese Maschine auf diesen Pfad.',
    },
    machine_rate_limited: {
      title: 'Zu viele Versuche',
      text: 'Von dieser Adresse kamen zu viele falsche Zugangsdaten. Mit den richtigen klappt es sofort.',
    },
    machine_token_ambiguous: {
      title: 'Mehr als eine Identität',
      text: 'Senden Sie das Token in genau einem Authorization-Header, ohne Service-Client-Header und ohne Sitzungs-Cookie.',
    },
    machine_token_invalid: {
      title: 'Ungültiges Token',
      text: 'Das ist kein Access-Token einer Maschine dieser Anwendung. Holen Sie eines am Token-Endpunkt mit grant_type=client_credentials.',
    },
    machine_token_expired: {
      title: 'Token abgelaufen',
      text: 'Dieses Token ist abgelaufen. Holen Sie am Token-Endpunkt ein neues.',
    },
    machine_token_revoked: {
      title: 'Token widerrufen',
      text: 'Das Secret hinter diesem Token wurde widerrufen oder ist abgelaufen, oder die Maschine ist deaktiviert. Holen Sie ein neues Token mit einem gültigen Secret.',
    },
  },
  accessNeeded: (way: AllowClause): string =>
    [
      ...(way.group === undefined ? [] : [`Mitgliedschaft in ${way.group}`]),
      ...(way.not_group === undefined ? [] : [`keine Mitgliedschaft in ${way.not_group}`]),
      ...Object.entries(way.attr ?? {}).map(([name, value]) => `${name} „${value}“`),
      ...(way.network === undefined ? [] : [`das Netzwerk ${way.network}`]),
      ...(way.not_network === undefined ? [] : [`ein anderes Netzwerk als ${way.not_network}`]),
      ...(way.strength === undefined ? [] : ['ein zweiter Faktor (in Ihrem Konto einrichten)']),
      ...(way.max_age === undefined ? [] : ['eine kürzliche Anmeldung']),
    ].join(', ') || 'eine Anmeldung',
  accessWays: 'Eines davon öffnet sie:',
  askForAccess: 'Zugriff anfragen',
  accessTo: (url: string): string => `Zugriff auf ${url}`,
  upstreamFailed: {
    title: 'Die Anwendung antwortet nicht',
    text: 'Versuchen Sie es gleich noch einmal.',
  },
  connectorAbsent: {
    title: 'Die Anwendung ist offline',
    text: 'Sie ist gerade nicht mit dieser Adresse verbunden. Versuchen Sie es gleich noch einmal.',
  },
  tryAgain: 'Erneut versuchen',
  homePage: 'Startseite',

  badRequests: {
    address: {
      title: 'Ungültige Adresse',
      text: 'Diese Adresse enthält ungültige Zeichen. Prüfen Sie sie, oder beginnen Sie auf der Startseite.',
    },
    addressTooLong: {
      title: 'Adresse zu lang',
      text: 'Diese Adresse ist länger als erlaubt. Prüfen Sie sie, oder beginnen Sie auf der Startseite.',
    },
    tooManyCookies: {
      title: 'Zu viele Cookies',
      text: 'Ihr Browser hat mehr Cookies gesendet als erlaubt. Löschen Sie die Cookies dieser Website und versuchen Sie es dann noch einmal.',
    },
    tooSlow: {
      title: 'Zeit abgelaufen',
      text: 'Ihre Anfrage kam nicht rechtzeitig an. Prüfen Sie Ihre Verbindung und versuchen Sie es dann noch einmal.',
    },
    method: {
      title: 'So lässt sich diese Seite nicht öffnen',
      text: 'Beginnen Sie auf der Startseite.',
    },
    internal: {
      title: 'Bei uns ist etwas schiefgegangen',
      text: 'Versuchen Sie es gleich noch einmal.',
    },
    other: {
      title: 'Ungültige Anfrage',
      text: 'Ihr Browser hat eine Anfrage gesendet, die wir nicht lesen konnten. Beginnen Sie auf der Startseite.',
    },
  },

  signInUnavailable: {
    title: 'Die Anmeldung ist vorübergehend nicht verfügbar',
    text: 'Versuchen Sie es gleich noch einmal. Bestehende Sitzungen laufen weiter.',
  },
  signInBlocked: {
    title: 'Neue Anmeldungen sind ausgesetzt',
    text: (application) =>
      `Neue Anmeldungen bei ${application} sind ausgesetzt. Wenden Sie sich an den Betreiber.`,
  },
  signInLoop: {
    title: 'Die Anmeldung wiederholt sich',
    text: (rounds, cause) => `Wir haben sie nach ${rounds} Versuchen angehalten. ${cause}`,
    noCookie:
      'Ihr Browser hat das Sitzungs-Cookie nicht behalten. Erlauben Sie Cookies für diese Website.',
  },
  tooManySignIns: {
    title: 'Zu viele Anmeldungen',
    text: 'Aus Ihrem Netzwerk gab es zu viele Anmeldungen. Laden Sie diese Seite gleich noch einmal.',
  },
  signInIncomplete: {
    title: 'Die Anmeldung wurde nicht abgeschlossen',
    text: 'Es ist nichts verloren gegangen. Melden Sie sich erneut an, um dort weiterzumachen, wo Sie waren.',
  },
  signInAgain: 'Erneut anmelden',

  signOut: 'Abmelden',
  signOutAsk: {
    title: 'Abmelden?',
    text: (application) => `Möchten Sie sich von ${application} abmelden?`,
  },
  signedOut: {
    title: 'Sie sind abgemeldet',
    text: (application) => `Ihre Sitzung bei ${application} ist beendet.`,
  },
  notSignedOut: {
    title: 'Sie sind vielleicht noch angemeldet',
    text: (application) =>
      `Wir konnten Ihre Sitzung bei ${application} nicht beenden. Versuchen Sie es gleich noch einmal.`,
  },

  me: {
    title: 'Ihre Sitzung',
    intro: (application) => `Sie sind bei ${application} angemeldet.`,
    email: 'E-Mail',
    since: 'Angemeldet seit',
    until: 'Läuft ab',
    account: 'Passwort und Konto',
    sessions: 'Aktive Sitzungen',
    devices: 'Bekannte Browser',
    devicesNone: 'Noch keine bekannten Browser.',
    unknownBrowser: 'Unbekannter Browser',
    thisOne: 'dieses Gerät',
    lastUsed: 'Zuletzt verwendet',
    lastSignIn: 'Letzte Anmeldung',
    end: 'Abmelden',
    forget: 'Vergessen',
    machines: 'Geräte mit unserem Agenten',
    machinesIntro: 'Das meldet der Agent über sie:',
    lastReport: 'Letzte Meldung',
    allGood: 'Keine Probleme gemeldet.',
    remove: 'Entfernen',
    listUnavailable:
      'Ihre Sitzungen und Browser können gerade nicht angezeigt werden. Versuchen Sie es gleich noch einmal.',
    back: 'Zurück zu Ihren Sitzungen',
    done: {
      session: 'Sitzung beendet. Das Gerät ist abgemeldet.',
      device: 'Browser vergessen. Bei der nächsten Anmeldung gilt er als neu.',
      machine: 'Gerät entfernt. Seine Sitzungen sind beendet.',
    },
    refusals: {
      cross_site_form: {
        title: 'Dieses Formular kam nicht von dieser Seite',
        text: 'Es wurde nichts geändert. Laden Sie die Seite neu und benutzen Sie die Schaltfläche dort.',
      },
      form_invalid: {
        title: 'Ungültiges Formular',
        text: 'Wählen Sie eine Sitzung, einen Browser oder ein Gerät. Laden Sie die Seite neu und versuchen Sie es erneut.',
      },
      form_too_large: {
        title: 'Dieses Formular ist zu groß',
        text: 'Es wurde nichts geändert. Laden Sie die Seite neu und benutzen Sie die Schaltfläche dort.',
      },
      not_found: {
        title: 'Sitzung, Browser oder Gerät nicht gefunden',
        text: 'Vielleicht wurde das schon beendet oder entfernt. Laden Sie die Seite neu.',
      },
      unavailable: {
        title: 'Vorübergehend nicht verfügbar',
        text: 'Wir wissen nicht, ob sie beendet wurde. Laden Sie die Seite gleich noch einmal.',
      },
    },
  },
}
