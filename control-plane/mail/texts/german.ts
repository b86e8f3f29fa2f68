import type { FactorChange, MailTexts } from './english.ts'

const factorChanges: Readonly<Record<FactorChange, string>> = {
  totp_added: 'wurde eine Authenticator-App hinzugefügt',
  passkey_added: 'wurde ein Passkey hinzugefügt',
  totp_removed: 'wurde eine Authenticator-App entfernt',
  passkey_removed: 'wurde ein Passkey entfernt',
  codes_renewed: 'wurden neue Wiederherstellungscodes erstellt; die alten gelten nicht mehr',
  all_removed:
    'wurden alle zweiten Faktoren entfernt; bei der nächsten Anmeldung richten Sie neue ein',
}

const lastOf = (isLast: boolean) =>
  isLast
    ? [
        'Weitere Mails wie diese senden wir Ihnen vorerst nicht, auch wenn es wieder geschieht. Ihr Konto zeigt den aktuellen Stand.',
      ]
    : []

export const german: MailTexts = {
  invite: ({ application, name, link }) => ({
    subject: `Sie sind zu ${application} eingeladen`,
    lines: [
      `Guten Tag ${name},`,
      `für Sie wurde ein Konto bei ${application} angelegt. Wählen Sie ein Passwort:`,
      link,
      'Der Link gilt einmal und sieben Tage lang.',
    ],
  }),
  reset: ({ application, name, link }) => ({
    subject: `Neues Passwort für ${application}`,
    lines: [
      `Guten Tag ${name},`,
      `jemand, vermutlich Sie, möchte ein neues Passwort für Ihr Konto bei ${application}:`,
      link,
      'Der Link gilt einmal und eine Stunde lang. Waren Sie es nicht, tun Sie nichts: Es hat sich nichts geändert.',
    ],
  }),
  email: ({ application, name, link }) => ({
    subject: `Bestätigen Sie Ihre neue E-Mail-Adresse für ${application}`,
    lines: [
      `Guten Tag ${name},`,
      `bestätigen Sie, dass dies Ihre neue Adresse für ${application} ist:`,
      link,
      'Der Link gilt einmal und einen Tag lang. Waren Sie es nicht, tun Sie nichts.',
    ],
  }),
  emailChanged: ({ application, name, email, isLast }) => ({
    subject: `Ihre E-Mail-Adresse für ${application} wurde geändert`,
    lines: [
      `Guten Tag ${name},`,
      `Ihr Konto bei ${application} gehört jetzt zu ${email}.`,
      'Waren Sie es nicht, sagen Sie es sofort den Menschen, die die Anwendung betreiben.',
      ...lastOf(isLast),
    ],
  }),
  passwordChanged: ({ application, name, link, areBrowsersForgotten, isByOther, isLast }) => ({
    subject: `Ihr Passwort für ${application} wurde geändert`,
    lines: [
      `Guten Tag ${name},`,
      isByOther
        ? `für Ihr Konto bei ${application} hat die Verwaltung ein neues Passwort gesetzt, und alle Sitzungen wurden beendet.`
        : `das Passwort Ihres Kontos bei ${application} wurde geändert, und alle Sitzungen wurden beendet.`,
      ...(areBrowsersForgotten
        ? ['Die Browser, die Sie bisher benutzt haben, gelten wieder als neu.']
        : []),
      isByOther
        ? 'Wissen Sie nicht, warum, fragen Sie die Menschen, die die Anwendung betreiben. Sie können selbst ein anderes wählen:'
        : 'Waren Sie es nicht, wählen Sie sofort ein neues:',
      link,
      ...lastOf(isLast),
    ],
  }),
  newDevice: ({ application, name, browser, ip, at, link, isLast }) => ({
    subject: `Neue Anmeldung bei ${application}`,
    lines: [
      `Guten Tag ${name},`,
      `Ihr Konto bei ${application} wurde mit einem Browser benutzt, den wir noch nicht kannten: ${browser || 'ein unbekannter Browser'}, von ${ip}, ${at}.`,
      'Waren Sie es, ist nichts zu tun. Wenn nicht, wählen Sie sofort ein neues Passwort:',
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
      'Der Link gilt einmal, sieben Tage lang und nur für diese Adresse. Kommt er unerwartet, ist nichts zu tun.',
    ],
  }),
  factorsChanged: ({ application, name, what, link, isLast }) => ({
    subject: `Die zweiten Faktoren Ihres Kontos bei ${application} haben sich geändert`,
    lines: [
      `Guten Tag ${name},`,
      `bei Ihrem Konto für ${application} ${factorChanges[what]}.`,
      'Waren Sie es selbst, ist nichts zu tun. Wenn nicht, sehen Sie Ihr Konto an und wählen Sie sofort ein neues Passwort:',
      link,
      ...lastOf(isLast),
    ],
  }),
}
