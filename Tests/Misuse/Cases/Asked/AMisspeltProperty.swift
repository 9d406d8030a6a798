// error: value of type 'Contact' has no member 'nmae'
// error: value of type 'Contact' has no member 'nmae'
// error: value of type 'Contact' has no member 'nmae'
import CoreDataSource

let named: FetchPredicate<Contact> = \Contact.nmae == "Guan Yu"
let containing: FetchPredicate<Contact> = .contains(\.nmae, "yu")
let order: [FetchOrder<Contact>] = [.ascending(\.nmae)]
