/** What pages of the console do better with a script; every page does without one. */
import { localTimes } from './local-times.ts'
import { followReceipts } from './receipts.ts'
import { openSwitcher } from './switcher.ts'

localTimes(document)
copyButtons()
followReceipts()
openSwitcher()

function copyButtons() {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    if (!('clipboard' in navigator)) continue // over plain http, but on this machine
    button.hidden = false
    button.addEventListener('click', () => {
      const text = button.parentElement?.querySelector('code')?.textContent ?? ''
      void navigator.clipboard.writeText(text).then(() => {
        button.textContent = 'Copied'
        setTimeout(() => (button.textContent = 'Copy'), 2000)
      })
    })
  }
}
