// The linter of the .mjs files: what is wrong, not how it is laid out.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["node_modules/", ".venv/", "docs/", "build/", "dist/"] },
  js.configs.recommended,
  {
    files: ["**/*.mjs"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: { ...globals.browser } },
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error", "no-implicit-globals": "error" },
  },
  { files: ["tests/**/*.mjs", "eslint.config.mjs"], languageOptions: { globals: { ...globals.node } } },
];
