import type { connectionsEnglish } from './connections-english.ts'

export const connectionsGerman: typeof connectionsEnglish = {
  continueWith: (name) => `Weiter mit ${name}`,
  or: 'oder mit Passwort',
  orElse: 'oder',
  next: 'Weiter',
  addressNeeded: 'Geben Sie Ihre E-Mail-Adresse oder Ihren Benutzernamen ein.',
  noneForAddress: 'Für diese Adresse ist kein Anbieter eingerichtet. Wählen Sie unten einen aus.',
  otherWays: 'Andere Anmeldewege',
  orEmergency: 'oder mit Notfallzugang',
  emergency: 'Notfallzugang mit Passwort',
  connect:
    'Es gibt schon ein Konto mit Ihrer E-Mail-Adresse. Melden Sie sich einmal mit dem Passwort an, um es zu verbinden. Danach genügt Ihr Anbieter.',
  test: {
    title: 'Probeanmeldung',
    passed: 'Die Probe ist gelungen. Sie können die Verbindung jetzt in der Konsole aktivieren.',
    failed: 'Mit diesen Angaben kann sich niemand anmelden:',
    person: 'Meldet sich an als',
    identifier: 'Erkannt an',
    name: 'Name',
    groups: 'Gruppen',
    attributes: 'Attribute',
    claims: 'Was der Anbieter sagt',
    notSignedIn:
      'Das war nur eine Probe: Sie sind nicht angemeldet, und es ist kein Konto entstanden.',
    factorMapped: 'Zählt als zweiter Faktor',
    yes: 'ja',
    no: 'nein',
  },
}
