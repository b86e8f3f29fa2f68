import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['node_modules/**', 'test/fixtures/**', 'data/**', '.tap/**', '**/dist/**'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: new URL('..', import.meta.url).pathname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      // factories return objects of functions that close over their world; none of them uses `this`
      '@typescript-eslint/unbound-method': 'off',
      'no-control-regex': 'off',
    },
  },
  {
    // what runs in browsers knows a document, and no Node
    files: ['control-plane/console/browser/*.ts'],
    languageOptions: {
      parserOptions: { project: './.config/tsconfig.browser.json', tsconfigRootDir: new URL('..', import.meta.url).pathname },
    },
  },
  {
    // tap runs and awaits its subtests by itself.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: ['test'], package: '@tapjs/test' }] },
      ],
    },
  },
  { files: ['**/*.js'], ...tseslint.configs.disableTypeChecked },
)
