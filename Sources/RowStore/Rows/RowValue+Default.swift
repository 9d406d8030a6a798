internal import Foundation
package import ManagedModel

extension RowValue {
    /// The stored form of an attribute's default value; nil for none.
    package init?(defaultOf attribute: AttributeDescription) {
        guard let value = attribute.defaultValue else { return nil }
        switch (ColumnStorage(attribute.type), value) {
        case (.integer, .boolean(let value)): self = .integer(value ? 1 : 0)
        case (.integer, .integer(let value)): self = .integer(value)
        // As a property of that type would store it.
        case (.real, .double(let value)): self = .real(attribute.type == .float ? Double(Float(value)) : value)
        case (.real, .date(let value)): self = .real(value)
        case (.real, .integer(let value)): self = .real(Double(value))
        case (.text, .string(let value)): self = .text(value)
        case (.text, .decimal(let value)): self = .text(value.description)
        case (.text, .integer(let value)): self = .text(String(value))
        case (.blob, .uuid(let value)): self = .blob(withUnsafeBytes(of: value.uuid) { Array($0) })
        default: return nil
        }
    }
}
