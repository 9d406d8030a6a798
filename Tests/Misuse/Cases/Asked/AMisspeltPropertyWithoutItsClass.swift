// error: binary operator '==' cannot be applied to operands of type 'KeyPath<Root, Value>' and 'String'
// error: cannot convert value of type 'Bool' to expected argument type 'FetchPredicate<Contact>'
// error: cannot infer key path type from context; consider explicitly specifying a root type
import CoreDataSource

// With its class, as in `\Contact.nmae == "x"`, the compiler names the property: see AMisspeltProperty.
@MainActor func find(_ contacts: ContactDataSource) throws {
    print(try contacts.fetch(Contact.self, where: \.nmae == "x"))
}
