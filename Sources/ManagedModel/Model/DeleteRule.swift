/// What happens to the destinations when the source of a relationship is deleted. The raw value is the word in the file.
public enum DeleteRule: String, Sendable, Hashable {
    /// Nothing happens: their links to the source may then lead nowhere.
    case noAction = "No Action"
    /// They lose their link to the source.
    case nullify = "Nullify"
    /// They are deleted too.
    case cascade = "Cascade"
    /// The source cannot be deleted as long as there is a destination.
    case deny = "Deny"
}
