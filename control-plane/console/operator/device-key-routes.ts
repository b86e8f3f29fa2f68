/** The key by which device agents know this service, of all tenants: rotated here, after a question. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { checkField } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import type { Html } from '../../pages/html.ts'
import { asking } from '../asking.ts'
import { card } from '../blocks/text.ts'
import { OPERATOR_ENTRIES } from '../navigation.ts'
import { done, type ConsoleRoute } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'

const KEYS = OPERATOR_ENTRIES.keysOfConsole.path
const PATH = `${KEYS}/devices` as const

const DEVICE_KEY_CALL = {
  method: 'POST',
  path: '/api/v1/operator/device-keys/rotate',
  body: {},
  label: 'device agents',
} as const

export function deviceKeyCard(isReadOnly: boolean): Html {
  return card(
    'Device agents',
    html`<p>Device agents of all tenants know this service by a key of its own. They have the next key before it signs.</p>
      ${isReadOnly ? '' : linkButton(PATH, 'Rotate the key …', 'quiet')}`,
    'device-key',
  )
}

export function deviceKeyRoutes({ challengeKeys }: ConsoleWorld): readonly ConsoleRoute[] {
  return asking(
    {
      path: PATH,
      role: 'operator',
      here: 'keysOfConsole',
      form: { force: 'flag' },
      body: v.strictObject({ force: v.boolean() }),
      isOnce: true,
      needsFreshSignIn: true,
      isAskedAgain: true,
    },
    (_visit, attempt) => ({
      title: 'Rotate the key of device agents?',
      effects: [
        'The next key signs from now on. Agents have it already, so nobody notices.',
        'A device that was off during two rotations has to be enrolled again.',
        'A second rotation within 30 days is refused unless you force it.',
      ],
      submit: 'Rotate the key',
      cancel: KEYS,
      content: checkField({
        name: 'force',
        label: 'Force: the current key has leaked',
        attempt,
      }),
      calls: [DEVICE_KEY_CALL],
    }),
    async ({ actor }, body) => {
      await challengeKeys.rotate(body, actor)
      return done(KEYS, 'Key of device agents rotated.')
    },
  )
}
