/** A page with one form, and perhaps another way to go on below it. */
import { html } from 'hono/html'
import { ownerField, textField, type TextFieldView } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import type { Html } from '../../pages/html.ts'
import { form, type FormView } from './blocks/form.ts'
import { page, type Page, type PageView, type Place } from './layout.ts'

interface PageWithFormView extends Omit<PageView, 'content'>, Omit<FormView, 'content'> {
  readonly fields?: readonly TextFieldView[]
  /** Whose password the form is about. */
  readonly owner?: string
  /** The fields that the problem is about; of a form that says nothing of it, all. */
  readonly wrong?: readonly string[] | undefined
  readonly above?: Html | undefined
  readonly below?: Html | undefined
}

export function pageWithForm({
  fields = [],
  owner,
  wrong,
  above,
  below,
  ...view
}: PageWithFormView): Page {
  const { place, problem } = view
  const showLabel = place.texts.showPassword
  const shown = fields.map((one) =>
    textField({
      showLabel,
      ...one,
      problem: wrong?.includes(one.name) === false ? undefined : problem,
      hasFocus: wrong?.[0] === undefined ? one.hasFocus === true : wrong[0] === one.name,
    }),
  )
  const hasPassword = fields.some(({ type }) => type === 'password')
  const scriptUrl = view.scriptUrl ?? (hasPassword ? place.scriptUrl : undefined)
  const content = owner === undefined ? shown : [ownerField(owner), ...shown]
  return page({
    ...view,
    scriptUrl,
    content: html`${above ?? ''} ${form({ ...view, content })} ${below ?? ''}`,
  })
}

/** One that says what has come of something, and leads on. */
export function pageOnwards(
  place: Place,
  { title, intro }: { readonly title: string; readonly intro: string },
  link: readonly [href: string, label: string],
): Page {
  return page({ place, title, intro, content: linkButton(...link) })
}
