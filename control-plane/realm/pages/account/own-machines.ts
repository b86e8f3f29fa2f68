/** A person's machines with our agent: what they report, how to mend it, and the end of them. */
import { html } from 'hono/html'
import type { Language } from '../../../../shared/sign-in/language.ts'
import type { EnrolledDevice } from '../../../devices/enrolled-device.ts'
import { sayFailing } from '../../../../shared/device-words/say-failing.ts'
import { DEVICE_WORDS } from '../../../../shared/device-words/say-reason.ts'
import type { Html } from '../../../pages/html.ts'
import { itemList, type Item } from '../blocks/item-list.ts'
import { moment } from '../blocks/moment.ts'
import type { Place } from '../layout.ts'

export type OwnMachine = Pick<
  EnrolledDevice,
  'deviceId' | 'hostname' | 'platform' | 'seenAt' | 'posture' | 'state'
>

interface MachinesView {
  readonly place: Place
  readonly accountUrl: string
  readonly csrf: string
  readonly machines: readonly OwnMachine[]
}

/** Nothing for whoever has none. */
export function machineList({ place, accountUrl, csrf, machines }: MachinesView): Html {
  const own = machines.filter(({ state }) => state !== 'revoked')
  if (own.length === 0) return html``
  const { texts } = place
  const { own: said } = texts.account
  const language = texts.language as Language
  const { collected, notCollected } = DEVICE_WORDS[language]
  const items: Item[] = own.map((machine) => ({
    title: machine.hostname,
    facts: [html`${said.lastReport} ${moment(texts, machine.seenAt)}`, ...failing(machine)],
    button: {
      action: `${accountUrl}/machines`,
      label: said.remove,
      hidden: { device: machine.deviceId, csrf },
    },
  }))

  function failing({ state, posture, platform }: OwnMachine): readonly (string | Html)[] {
    const reported = { state, platform, facts: posture && posture.facts }
    const wrong = sayFailing(language, reported).map(
      ({ title, said: found, mend }) => html`${title}: ${found} ${mend ?? ''}`,
    )
    return wrong.length === 0 ? [said.allGood] : wrong
  }

  return html`<h2>${said.machines}</h2>
    ${itemList('machine', items, '')}
    <p>${said.machinesIntro}</p>
    <ul class="steps">
      ${collected.map((line) => html`<li>${line}</li>`)}
    </ul>
    <p>${notCollected}</p>`
}
