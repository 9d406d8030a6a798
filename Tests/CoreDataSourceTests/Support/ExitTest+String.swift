import Testing

extension ExitTest.Result {
    /// What the process wrote to its standard error.
    var standardErrorString: String { String(decoding: standardErrorContent, as: UTF8.self) }
}
