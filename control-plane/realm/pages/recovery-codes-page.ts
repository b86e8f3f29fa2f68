import { html } from 'hono/html'
import { notice } from '../../pages/blocks/notice.ts'
import { form } from './blocks/form.ts'
import { secretBlock } from './blocks/secret.ts'
import { page, type Page, type Place } from './layout.ts'

interface RecoveryCodesView {
  readonly place: Place
  readonly action: string
  readonly codes: readonly string[]
}

export function recoveryCodesPage({ place, action, codes }: RecoveryCodesView): Page {
  const { steps } = place.texts
  return page({
    place,
    title: steps.recoveryCodes,
    intro: steps.recoveryCodesIntro,
    content: html`
      ${notice('info', steps.recoveryCodesKeep)} ${secretBlock(steps.recoveryCodes, codes)}
      ${form({ action, submit: steps.recoveryCodesSaved, hidden: { codes_saved: '1' } })}
    `,
  })
}
