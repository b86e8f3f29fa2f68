/**
 * Characters that nobody sees and that change what is seen: controls, line breaks, and those that
 * turn the direction of everything behind them, so that a name reads as another one and takes the
 * text around it along (CVE-2021-42574). The joiners of Persian, Indic scripts and emoji stay, and
 * so does text that is written from right to left.
 */
const UNSEEN =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?![\u200c\u200d\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/u
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu')

export const hasUnseen = (text: string): boolean => UNSEEN.test(text)
export const withoutUnseen = (text: string): string => text.replaceAll(ALL_UNSEEN, '')
