/** What the pages behind the password say, in German. */
import type { stepsEnglish } from './steps-english.ts'

export const stepsGerman: typeof stepsEnglish = {
  signingInAs: (username) => `Sie melden sich als ${username} an.`,
  anotherAccount: 'Ein anderes Konto benutzen',

  secondFactor: 'Bestätigen Sie, dass Sie es sind',
  code: 'Bestätigungscode',
  codeHint: 'Aus Ihrer Authenticator-App, oder einer Ihrer Wiederherstellungscodes.',
  recoveryCode: 'Wiederherstellungscode',
  recoveryCodeHint: 'Einer der Codes, die Sie beim Einrichten Ihres Passkeys gesehen haben.',
  confirm: 'Bestätigen',
  usePasskey: 'Passkey benutzen',
  passkeyNeedsScript:
    'Passkeys brauchen JavaScript, das Ihr Browser hier nicht ausführt. Benutzen Sie einen Code.',
  passkeyFailed:
    'Das hat nicht geklappt. Versuchen Sie es noch einmal, oder benutzen Sie einen Code.',

  enrol: 'Zweiten Faktor einrichten',
  enrolIntro: 'Künftig bestätigen Sie damit, dass Sie es sind.',
  enrolApp: 'Mit einer Authenticator-App',
  enrolAppSteps: [
    'Öffnen Sie Ihre Authenticator-App und fügen Sie ein Konto hinzu.',
    'Scannen Sie dieses Bild, oder tippen Sie den Schlüssel darunter ein.',
    'Geben Sie den Code ein, den die App anzeigt.',
  ],
  qrLabel: 'Bild für Ihre Authenticator-App',
  keyLabel: 'Schlüssel für Ihre Authenticator-App',
  appCode: 'Code, den die App anzeigt',
  enrolAppSubmit: 'App einrichten',
  enrolPasskey: 'Mit einem Passkey',
  enrolPasskeyHint: 'Fingerabdruck, Gesicht oder PIN dieses Geräts, oder ein Sicherheitsschlüssel.',
  enrolPasskeySubmit: 'Passkey einrichten',
  enrolNeedsScript:
    'Passkeys brauchen JavaScript, das Ihr Browser hier nicht ausführt. Benutzen Sie eine App.',

  recoveryCodes: 'Bewahren Sie Ihre Wiederherstellungscodes auf',
  recoveryCodesIntro:
    'Jeder von ihnen ersetzt einmal Ihren zweiten Faktor, für den Tag, an dem Sie ihn nicht haben.',
  recoveryCodesKeep:
    'Drucken Sie sie aus oder schreiben Sie sie auf. Sie werden nicht noch einmal gezeigt.',
  recoveryCodesSaved: 'Ich habe sie aufbewahrt, weiter',

  newPasswordIntro: 'Ihres ist zu alt. Alles andere, was Sie eingegeben haben, stimmt.',
  newPasswordHint: (characters) => `Mindestens ${characters} Zeichen.`,
  newPasswordSubmit: 'Speichern und anmelden',
  passwordProblem: {
    password_too_short: 'Dieses Passwort ist zu kurz. Nehmen Sie mehr Zeichen.',
    password_too_long: 'Dieses Passwort ist länger, als ein Passwort sein kann.',
    password_too_weak:
      'Dieses Passwort ist leicht zu erraten. Nehmen Sie mehr Wörter, oder solche, die niemand erwartet.',
    password_breached:
      'Dieses Passwort steht auf Listen, die Angreifer benutzen. Wählen Sie ein anderes.',
    password_used_before: 'Dieses Passwort hatten Sie schon. Wählen Sie ein anderes.',
  },
}
