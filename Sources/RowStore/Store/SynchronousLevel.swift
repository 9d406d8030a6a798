/// When a commit counts as done.
public enum SynchronousLevel: Sendable, Hashable {
    /// When it is on the disk: a power cut loses nothing that was committed.
    case full
    /// When the operating system has it: a killed process loses nothing; a power cut may lose the newest commits, each as a
    /// whole.
    case normal
}
