import type { AlertMetric } from '../../store/monitoring-names.ts'
import type { FactorChange, MailTexts } from './english.ts'

const metrics: Readonly<Record<AlertMetric, string>> = {
  refused_sign_ins: 'Abgelehnte Anmeldungen',
  step_ups: 'Angeforderte zweite Faktoren',
  sealed_hits: 'Anfragen an gesperrte Pfade',
  lockouts: 'Sperren',
  device_other_browser: 'Geräteprüfungen aus einem anderen Browser',
  device_break_glass: 'Anmeldungen über den Notfallzugang',
  failed_deliveries: 'Fehlgeschlagene Webhook-Zustellungen',
}

const factorChanges: Readonly<Record<FactorChange, string>> = {
  totp_added: 'wurde eine Authenticator-App hinzugefügt',
  passkey_added: 'wurde ein Passkey hinzugefügt',
  totp_removed: 'wurde eine Authenticator-App entfernt',
  passkey_removed: 'wurde ein Passkey entfernt',
  codes_renewed: 'wurden neue Wiederherstellungscodes erstellt; die alten gelten nicht mehr',
  all_removed:
    'wurden alle zweiten Faktoren entfernt; neue können Sie bei der nächsten Anmeldung einrichten',
}

const lastOf = (isLast: boolean) =>
  isLast
    ? [
        'Weitere E-Mails wie diese senden wir Ihnen vorerst nicht, auch wenn es wieder vorkommt. Ihr Konto zeigt den aktuellen Stand.',
      ]
    : []

/** As a name: it stands behind „zu“, „für“ and „bei“. */
export const GERMAN_CONSOLE = '„Konsole“'

export const german: MailTexts = {
  signIn: ({ application, name, code, link, browser, ip, at, minutes }) => ({
    subject: `Bei ${application} anmelden`,
    lines: [
      `Guten Tag ${name},`,
      `jemand möchte sich mit Ihrem Konto bei ${application} anmelden (${browser || 'unbekannter Browser'}, IP-Adresse ${ip}, ${at}). Wenn Sie das sind, geben Sie diesen Code auf der Seite ein, von der die Anfrage kam:`,
      code,
      'Oder öffnen Sie diesen Link im selben Browser:',
      link,
      `Beides gilt einmal, nur in diesem Browser, und läuft in ${minutes} Minuten ab. Wenn Sie das nicht sind, ignorieren Sie diese E-Mail und geben Sie den Code niemandem: Ohne ihn kommt niemand hinein.`,
    ],
  }),
  signUp: ({ application, code, link, browser, ip, at, minutes }) => ({
    subject: `Bestätigen Sie Ihre E-Mail-Adresse für ${application}`,
    lines: [
      'Guten Tag,',
      `jemand möchte mit dieser E-Mail-Adresse ein Konto bei ${application} (${browser || 'unbekannter Browser'}, IP-Adresse ${ip}, ${at}). Wenn Sie das sind, geben Sie diesen Code auf der Seite ein, von der die Anfrage kam:`,
      code,
      'Oder öffnen Sie diesen Link im selben Browser:',
      link,
      `Beides gilt einmal, nur in diesem Browser, und läuft in ${minutes} Minuten ab. Wenn Sie das nicht sind, ignorieren Sie diese E-Mail und geben Sie den Code niemandem: Es wird kein Konto angelegt.`,
    ],
  }),
  signUpKnown: ({ application, link }) => ({
    subject: `Sie haben schon ein Konto bei ${application}`,
    lines: [
      'Guten Tag,',
      `jemand möchte mit dieser E-Mail-Adresse ein neues Konto bei ${application}. Sie haben schon eines, deshalb wurde nichts angelegt. Wenn Sie das sind, gehen Sie zurück zur Anwendung und melden Sie sich an. Wenn Sie Ihr Passwort vergessen haben, wählen Sie ein neues:`,
      link,
      'Wenn Sie das nicht sind, ignorieren Sie diese E-Mail: Es hat sich nichts geändert.',
    ],
  }),
  signUpWaiting: ({ application }) => ({
    subject: `Ihre Anfrage bei ${application} wartet auf Freigabe`,
    lines: [
      'Guten Tag,',
      `jemand möchte noch einmal ein Konto bei ${application} mit dieser E-Mail-Adresse. Die erste Anfrage wartet noch auf die Verwaltung. Sie müssen nichts tun: Sobald sie entschieden ist, erhalten Sie eine E-Mail.`,
    ],
  }),
  signUpApproved: ({ application, name, link }) => ({
    subject: `Ihr Konto bei ${application} ist bereit`,
    lines: [
      `Guten Tag ${name},`,
      `Ihr Konto bei ${application} wurde freigegeben. Melden Sie sich mit dieser E-Mail-Adresse an:`,
      link,
    ],
  }),
  signUpRefused: ({ application, name }) => ({
    subject: `Ihre Anfrage bei ${application} wurde abgelehnt`,
    lines: [
      `Guten Tag ${name},`,
      `Ihre Anfrage für ein Konto bei ${application} wurde nicht freigegeben. Was Sie eingegeben haben, ist gelöscht. Wenn Sie das für ein Versehen halten, wenden Sie sich an diejenigen, die die Anwendung betreiben.`,
    ],
  }),
  signUpsWait: ({ tenant, count, link }) => ({
    subject: `${tenant}: Kontoanfragen warten`,
    lines: [
      `Personen, die auf die Freigabe eines Kontos bei ${tenant} warten: ${count}.`,
      'Entscheiden Sie in der Konsole über die Anfragen:',
      link,
      'Diese E-Mail erhalten Sie höchstens einmal in der Stunde. Anfragen, über die niemand entscheidet, werden nach 30 Tagen gelöscht.',
    ],
  }),
  invite: ({ application, name, link }) => ({
    subject: `Sie sind zu ${application} eingeladen`,
    lines: [
      `Guten Tag ${name},`,
      `für Sie wurde ein Konto bei ${application} angelegt. Wählen Sie ein Passwort, um loszulegen:`,
      link,
      'Der Link gilt einmal und läuft in sieben Tagen ab.',
    ],
  }),
  reset: ({ application, name, link }) => ({
    subject: `Passwort für ${application} zurücksetzen`,
    lines: [
      `Guten Tag ${name},`,
      `wir haben eine Anfrage erhalten, das Passwort Ihres Kontos bei ${application} zurückzusetzen. Wählen Sie ein neues Passwort:`,
      link,
      'Der Link gilt einmal und läuft in einer Stunde ab. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es hat sich nichts geändert.',
    ],
  }),
  email: ({ application, name, link }) => ({
    subject: `Bestätigen Sie Ihre neue E-Mail-Adresse für ${application}`,
    lines: [
      `Guten Tag ${name},`,
      `bestätigen Sie auf einem Gerät, auf dem Sie angemeldet sind, dass dies Ihre neue E-Mail-Adresse für ${application} ist:`,
      link,
      'Der Link gilt einmal und läuft in einem Tag ab. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail.',
    ],
  }),
  emailChanged: ({ application, name, email, isLast }) => ({
    subject: `Ihre E-Mail-Adresse für ${application} wurde geändert`,
    lines: [
      `Guten Tag ${name},`,
      `Ihr Konto bei ${application} verwendet jetzt ${email}.`,
      'Wenn Sie das nicht waren, wenden Sie sich sofort an den Betreiber der Anwendung.',
      ...lastOf(isLast),
    ],
  }),
  passwordChanged: ({ application, name, link, areBrowsersForgotten, isByOther, isLast }) => ({
    subject: `Ihr Passwort für ${application} wurde geändert`,
    lines: [
      `Guten Tag ${name},`,
      isByOther
        ? `für Ihr Konto bei ${application} hat die Administration ein neues Passwort gesetzt. Alle Sitzungen wurden beendet.`
        : `das Passwort Ihres Kontos bei ${application} wurde geändert. Alle Sitzungen wurden beendet.`,
      ...(areBrowsersForgotten ? ['Ihre bisher benutzten Browser gelten wieder als neu.'] : []),
      isByOther
        ? 'Wenn Sie den Grund nicht kennen, fragen Sie den Betreiber der Anwendung. Hier können Sie selbst ein Passwort wählen:'
        : 'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort:',
      link,
      ...lastOf(isLast),
    ],
  }),
  newDevice: ({ application, name, browser, ip, at, link, isLast }) => ({
    subject: `Neue Anmeldung bei ${application}`,
    lines: [
      `Guten Tag ${name},`,
      `Ihr Konto bei ${application} wurde mit einem neuen Browser benutzt: ${browser || 'ein unbekannter Browser'}, IP-Adresse ${ip}, ${at}.`,
      'Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, wählen Sie sofort ein neues Passwort:',
      link,
      ...lastOf(isLast),
    ],
  }),
  colleague: ({ tenant, by, link }) => ({
    subject: `Sie sind eingeladen, ${tenant} zu verwalten`,
    lines: [
      'Guten Tag,',
      by === ''
        ? `Sie sind eingeladen, ${tenant} in der Konsole zu verwalten:`
        : `${by} lädt Sie ein, ${tenant} in der Konsole zu verwalten:`,
      link,
      'Der Link gilt einmal, läuft in sieben Tagen ab und ist nur für diese E-Mail-Adresse. Wenn Sie ihn nicht erwarten, ignorieren Sie diese E-Mail.',
    ],
  }),
  factorsChanged: ({ application, name, what, link, isLast }) => ({
    subject: `Ihre zweiten Faktoren für ${application} wurden geändert`,
    lines: [
      `Guten Tag ${name},`,
      `bei Ihrem Konto für ${application} ${factorChanges[what]}.`,
      'Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, prüfen Sie Ihr Konto und wählen Sie sofort ein neues Passwort:',
      link,
      ...lastOf(isLast),
    ],
  }),
  alert: ({ tenant, what, value, threshold, minutes, link, stopLink }) => ({
    subject: `Alarm für ${tenant}: ${metrics[what]}`,
    lines: [
      'Guten Tag,',
      `${metrics[what]} bei ${tenant}: ${value} innerhalb von ${minutes} min. Der Schwellenwert ist ${threshold}.`,
      ...(stopLink === undefined
        ? [
            'Sehen Sie nach, was passiert ist:',
            link,
            `Sie erhalten diese E-Mail, weil Sie in der Konsole Zugriff auf ${tenant} haben. Administratoren können sie dort unter „Alerts“ abschalten.`,
          ]
        : [
            `Wer ${tenant} verwaltet, kann in der Konsole nachsehen, was passiert ist.`,
            'Sie erhalten diese E-Mail, weil Sie diese Adresse bestätigt haben. Abbestellen:',
            stopLink,
          ]),
    ],
  }),
  alertConfirm: ({ tenant, link }) => ({
    subject: `Alarme von ${tenant} per E-Mail: bitte bestätigen`,
    lines: [
      'Guten Tag,',
      `die Administration von ${tenant} möchte Alarme an diese Adresse senden lassen. Wenn Sie sie erhalten möchten, bestätigen Sie das innerhalb von 7 Tagen:`,
      link,
      'Wenn nicht, ignorieren Sie diese E-Mail: Sie erhalten keine Alarme.',
    ],
  }),
}
