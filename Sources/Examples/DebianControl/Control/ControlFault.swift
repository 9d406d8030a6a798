/// What is wrong with a record, as a message for the user.
public struct ControlFault: Error, Hashable, Sendable {
    /// The number of the line, from 1.
    public var line: Int
    public var message: String

    public init(line: Int, message: String) {
        self.line = line
        self.message = message
    }
}
