/** What the pages say that find out on which machine a sign-in is, in German. */
import type { deviceEnglish } from './device-english.ts'

export const deviceGerman: typeof deviceEnglish = {
  title: 'Dieses Gerät prüfen',
  intro: 'Diese Anwendung erlaubt nur Geräte mit ihrem Geräteagenten.',
  check: 'Dieses Gerät prüfen',
  checkHint:
    'Dazu öffnet sich ein neuer Tab. Kommen Sie nach der Prüfung hierher zurück und fahren Sie fort.',
  continue: 'Weiter',
  checkedContinue: 'Nach der Prüfung weiter',
  noAgent: 'Zeigt der neue Tab einen Fehler?',
  noAgentHint:
    'Dann ist der Geräteagent auf diesem Gerät nicht installiert, läuft nicht, oder ein anderes Programm belegt seinen Port. Ist er installiert, sieht ein Administrator mit „service-device-agent status“, woran es liegt. Nutzen mehrere Personen diesen Computer, muss es der Agent dieser Anwendung sein.',
  typedHint:
    'Erreicht dieser Browser den Agenten nicht? Rufen Sie auf diesem Gerät „service-device-agent code“ auf und geben Sie den Code innerhalb einer Minute ein. Nennen Sie ihn niemandem: Wer ihn hat, kann sich als Sie anmelden.',
  typedCode: 'Code des Agenten',
  typedSubmit: 'Mit dem Code prüfen',
  typedWrong:
    'Dieser Code ist falsch, wurde schon benutzt oder ist abgelaufen. Rufen Sie den Befehl noch einmal auf.',
  hasNone: 'Dieses Gerät hat keinen Agenten',

  missingTitle: 'Dieses Gerät ist nicht registriert',
  missingIntro: 'Diese Anwendung erlaubt nur Geräte mit ihrem Geräteagenten.',
  missingSteps: [
    'Bitten Sie den Betreiber der Anwendung um einen Installationslink für dieses Gerät.',
    'Installieren Sie den Agenten. Das dauert etwa eine Minute und braucht Administratorrechte.',
    'Prüfen Sie dieses Gerät dann erneut, oder melden Sie sich auf einem registrierten Gerät an.',
  ],

  failingTitle: 'Dieses Gerät erfüllt die Anforderungen nicht',
  failingIntro:
    'Beheben Sie Folgendes und prüfen Sie das Gerät dann erneut. Es ist nichts verloren gegangen.',
  warningTitle: 'Dieses Gerät braucht Aufmerksamkeit',
  warningIntro: 'Sie können fortfahren, beheben Sie aber bitte bald Folgendes.',
  graceIntro: (date) =>
    `Bitte beheben Sie Folgendes bis zum ${date}. Danach können Sie sich mit diesem Gerät nicht mehr anmelden.`,
  checkAgain: 'Erneut prüfen',
  goOn: 'Trotzdem fortfahren',
  goOnUnchecked: 'Ohne Prüfung fortfahren',

  checkedTitle: 'Dieses Gerät wurde geprüft',
  checkedIntro: 'Sie können diesen Tab schließen und im ersten weitermachen.',
  continueHere: 'Hier weitermachen',

  failedTitle: 'Dieses Gerät konnte nicht geprüft werden',
  failed: {
    device_suspect_clone:
      'Dieses Gerät wurde vielleicht kopiert: Ein anderer Rechner benutzt seinen Schlüssel. Wenden Sie sich an den Betreiber der Anwendung.',
    device_refused:
      'Dieses Gerät ist nicht mehr registriert. Bitten Sie den Betreiber der Anwendung um einen neuen Installationslink.',
    device_key_lost:
      'Dieses Gerät wurde zurückgesetzt: Sein Sicherheitschip hat den Schlüssel nicht mehr, mit dem es registriert wurde. Bitten Sie den Betreiber der Anwendung um einen neuen Installationslink.',
    device_challenge_invalid:
      'Die Prüfung hat zu lange gedauert oder wurde schon benutzt. Beginnen Sie sie noch einmal.',
    other:
      'Der Geräteagent konnte die Prüfung nicht abschließen. Warten Sie kurz und beginnen Sie sie noch einmal.',
  },
  backToSignIn: 'Zurück zur Anmeldung',
}
