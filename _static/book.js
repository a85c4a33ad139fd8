// Lets the keyboard reach the formulas that are too wide for the page, as the theme does for code and outputs.
{
  const mark = (entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  };
  const observer = new ResizeObserver(mark);
  for (const formula of document.querySelectorAll(".katex-display")) observer.observe(formula);
}
