// Before the first paint: the theme that the user chose, so that the other one does not flash.
try {
  document.documentElement.dataset.theme = localStorage.getItem("jsonrill-theme") ?? "auto";
} catch {
  // Storage is blocked: the theme is the system's.
}
