/** What the pages behind the password say, in German. */
import type { stepsEnglish } from './steps-english.ts'

export const stepsGerman: typeof stepsEnglish = {
  signingInAs: (username) => `Anmeldung als ${username}.`,
  anotherAccount: 'Anderes Konto verwenden',

  secondFactor: 'Bestätigen Sie, dass Sie es sind',
  code: 'Bestätigungscode',
  codeHint: 'Aus Ihrer Authenticator-App oder einer Ihrer Wiederherstellungscodes.',
  recoveryCode: 'Wiederherstellungscode',
  recoveryCodeHint: 'Einer der Codes, die Sie beim Einrichten Ihres Passkeys gespeichert haben.',
  confirm: 'Bestätigen',
  usePasskey: 'Passkey verwenden',
  passkeyNeedsScript:
    'Passkeys brauchen JavaScript, das in diesem Browser ausgeschaltet ist. Verwenden Sie stattdessen einen Code.',
  passkeyFailed: 'Das hat nicht geklappt. Versuchen Sie es erneut oder verwenden Sie einen Code.',

  enrol: 'Zweiten Faktor einrichten',
  enrolIntro: 'Sie brauchen ihn künftig bei jeder Anmeldung.',
  enrolApp: 'Authenticator-App',
  enrolAppSteps: [
    'Öffnen Sie Ihre Authenticator-App und fügen Sie ein Konto hinzu.',
    'Scannen Sie diesen QR-Code oder geben Sie den Schlüssel darunter ein.',
    'Geben Sie den Code ein, den die App anzeigt.',
  ],
  qrLabel: 'QR-Code für Ihre Authenticator-App',
  keyLabel: 'Einrichtungsschlüssel',
  appCode: 'Code aus der App',
  enrolAppSubmit: 'App aktivieren',
  enrolPasskey: 'Passkey oder Sicherheitsschlüssel',
  enrolPasskeyHint:
    'Verwenden Sie Fingerabdruck, Gesicht oder PIN dieses Geräts oder einen Sicherheitsschlüssel.',
  enrolPasskeySubmit: 'Passkey einrichten',
  enrolNeedsScript:
    'Passkeys brauchen JavaScript, das in diesem Browser ausgeschaltet ist. Verwenden Sie stattdessen eine App.',

  recoveryCodes: 'Wiederherstellungs\u00adcodes speichern',
  recoveryCodesIntro:
    'Wenn Sie Ihren zweiten Faktor verlieren, können Sie sich mit jedem Code einmal anmelden.',
  recoveryCodesKeep:
    'Drucken Sie sie aus oder bewahren Sie sie sicher auf. Sie werden nicht noch einmal angezeigt.',
  recoveryCodesSaved: 'Gespeichert, weiter',

  newPasswordIntro:
    'Ihr Passwort ist abgelaufen. Wählen Sie ein neues, um die Anmeldung abzuschließen.',
  newPasswordHint: (characters) => `Mindestens ${characters} Zeichen.`,
  newPasswordSubmit: 'Speichern und anmelden',
  passwordProblem: {
    password_too_short: 'Dieses Passwort ist zu kurz. Verwenden Sie mehr Zeichen.',
    password_too_long: 'Dieses Passwort ist zu lang. Verwenden Sie weniger Zeichen.',
    password_too_weak:
      'Dieses Passwort ist leicht zu erraten. Verwenden Sie mehr oder ungewöhnlichere Wörter.',
    password_breached:
      'Dieses Passwort ist in einem Datenleck aufgetaucht. Wählen Sie ein anderes.',
    password_used_before: 'Dieses Passwort haben Sie schon einmal benutzt. Wählen Sie ein anderes.',
  },
}
